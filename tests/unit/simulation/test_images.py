import itertools
import sys

import numpy as np
import pytest

from evcrisp.core.errors import ConfigError, MissingExtraError
from evcrisp.simulation import simulate, simulate_frames
from evcrisp.simulation.textures import load_image, mirrored


@pytest.fixture
def picture():
    return np.random.default_rng(2).integers(0, 256, (30, 41)).astype(np.uint8)


def stretched(image):
    image = image.astype(float)
    return (image - image.min()) / (image.max() - image.min())


def write_pgm(path, image, magic, comment=b"# made by hand\n"):
    height, width = image.shape
    high = 255 if image.dtype == np.uint8 else 65_535
    head = magic + b"\n" + comment + b"%d %d\n%d\n" % (width, height, high)
    if magic == b"P2":
        path.write_bytes(head + b" ".join(b"%d" % value for value in image.ravel()))
    else:
        path.write_bytes(head + image.astype(image.dtype.newbyteorder(">")).tobytes())


@pytest.mark.parametrize("magic", [b"P2", b"P5"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_pgm_is_read(tmp_path, picture, magic, dtype):
    image = picture.astype(dtype) * (1 if dtype == np.uint8 else 200)
    write_pgm(tmp_path / "a.pgm", image, magic)
    np.testing.assert_allclose(load_image(tmp_path / "a.pgm"), stretched(image))


def test_npy_is_read(tmp_path, picture):
    np.save(tmp_path / "a.npy", picture)
    np.testing.assert_allclose(load_image(str(tmp_path / "a.npy")), stretched(picture))


def test_png_is_read_with_pillow(tmp_path, picture):
    pillow = pytest.importorskip("PIL.Image", reason="pillow is an optional package")
    pillow.fromarray(picture).save(tmp_path / "a.PNG")
    np.testing.assert_allclose(load_image(tmp_path / "a.PNG"), stretched(picture))


def test_png_without_pillow_raises_with_the_extra(tmp_path, monkeypatch):
    (tmp_path / "a.png").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(MissingExtraError, match=r"pip install \"evcrisp\[video\]\""):
        load_image(tmp_path / "a.png")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.pgm", b"", "not the header of a portable graymap"),
        ("a.pgm", b"P6\n2 2\n255\n" + bytes(12), "not the header of a portable graymap"),
        ("a.pgm", b"P5\n4 4\n255\n" + bytes(15), "expected 16 values, got 15"),
        ("a.pgm", b"P5\n99999999 99999999\n255\n", "the header specifies 99999999x99999999"),
        ("a.pgm", b"P5\n-4 4\n255\n", "not the header of a portable graymap"),
        ("a.pgm", b"P5\nx 4\n255\n", "not readable as an image"),
        ("a.pgm", b"P2\n2 2\n255\n1 2 three 4", "not readable as an image"),
        ("a.npy", b"\x93NUMPY", "not readable as an image"),
        ("a.npy", b"", "not readable as an image"),
        ("a.xyz", b"", "an image must be one of .npy"),
    ],
)
def test_damaged_image_raises(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        load_image(tmp_path / name)


def test_invalid_png_raises(tmp_path):
    pytest.importorskip("PIL.Image", reason="pillow is an optional package")
    (tmp_path / "a.png").write_bytes(b"not a picture")
    with pytest.raises(ConfigError, match="not readable as an image"):
        load_image(tmp_path / "a.png")


def test_npy_with_objects_raises(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[{}, {}]] * 2), allow_pickle=True)
    with pytest.raises(ConfigError, match="not readable as an image"):
        load_image(tmp_path / "a.npy")


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.zeros((4, 4, 3)), "two axes of 2 px or more; got float64 of shape"),
        (np.zeros((1, 9)), "two axes of 2 px or more"),
        (np.zeros((4, 4), complex), "must be gray"),
        (np.full((4, 4), 3.0), "every pixel is 3.0"),
        (np.array([[0.0, np.nan], [1.0, 2.0]]), "contains nan or infinity"),
    ],
)
def test_invalid_image_array_raises(image, message):
    with pytest.raises(ConfigError, match=message):
        simulate(texture=image, resolution=(8, 8))


def test_missing_image_raises(tmp_path):
    with pytest.raises(ConfigError, match="no such image"):
        simulate(texture=tmp_path / "none.pgm")


def test_path_and_array_give_the_same_texture(tmp_path, picture):
    write_pgm(tmp_path / "a.pgm", picture, b"P5")
    settings = {"resolution": (24, 18), "duration_us": 20_000}
    by_path = simulate(texture=str(tmp_path / "a.pgm"), **settings)
    by_array = simulate(texture=picture, **settings)
    assert len(by_path.events) > 100
    assert by_path.events.equals(by_array.events)
    assert by_path.config == by_array.config


def test_mirrored_tile_has_no_seam(picture):
    tile = mirrored(picture.astype(float))
    assert tile.shape == (60, 82)
    np.testing.assert_array_equal(tile[:, 0], tile[:, -1])
    np.testing.assert_array_equal(tile[0], tile[-1])
    np.testing.assert_array_equal(tile[:30, :41], picture)


def test_first_frame_is_the_middle_of_the_image(picture):
    frame = next(simulate_frames(texture=picture, resolution=(21, 10), blur_px=0, contrast=1e4))
    expected = 255 * stretched(picture)[10:20, 10:31]
    assert frame.image.dtype == np.uint8
    np.testing.assert_allclose(frame.image, expected, atol=1.5)


def test_frames_move_with_theta(picture):
    frames = list(
        simulate_frames(
            texture=picture, resolution=(30, 20), theta=(100.0, -50.0), duration_us=80_001,
            t_start_us=7, blur_px=0.5,
        )
    )  # fmt: skip
    assert [frame.t for frame in frames] == [7, 40_007, 80_007]
    assert repr(frames[0]) == "Frame(t=7 us, 30x20 uint8)"
    # 4 px to the right and 2 px up from one frame to the next
    for before, after in itertools.pairwise(frames):
        np.testing.assert_allclose(
            after.image[:-2, 4:].astype(int), before.image[2:, :-4].astype(int), atol=1
        )
