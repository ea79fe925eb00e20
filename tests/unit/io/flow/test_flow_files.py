"""Flow files: round trips, and what the formats state."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from evcrisp import ConfigError, OutputError
from evcrisp.core.flow import Flow
from evcrisp.io.flow import read_flow, write_flow

SHAPES = st.tuples(st.integers(1, 9), st.integers(1, 9))
DURATIONS_US = st.integers(1, 10_000_000)


def random_flow(shape=(7, 11), seed=0, duration_us=30_000, most_px=200.0):
    rng = np.random.default_rng(seed)
    displacement = rng.uniform(-most_px, most_px, (*shape, 2))
    valid = rng.random(shape) < 0.7
    return Flow(displacement / (duration_us / 1e6), valid, 5, 5 + duration_us)


@st.composite
def flows(draw, most_px):
    shape = draw(SHAPES)
    displacement = draw(npst.arrays(np.float32, (*shape, 2), elements=st.floats(
        -most_px, most_px, width=32, allow_subnormal=False)))  # fmt: skip
    valid = draw(npst.arrays(bool, shape))
    duration_us = draw(DURATIONS_US)
    t_start = draw(st.integers(-(2**60), 2**60))
    return Flow(displacement / (duration_us / 1e6), valid, t_start, t_start + duration_us)


def same_frame(found, flow):
    assert (found.t_start, found.t_end, found.resolution) == (
        flow.t_start,
        flow.t_end,
        flow.resolution,
    )
    np.testing.assert_array_equal(found.valid, flow.valid)


@given(flow=flows(1e6))
def test_npz_is_lossless(flow, tmp_path_factory):
    path = tmp_path_factory.mktemp("flow") / "a.npz"
    write_flow(path, flow)
    found = read_flow(path)
    same_frame(found, flow)
    np.testing.assert_array_equal(found.velocity, flow.velocity)


@given(flow=flows(1e6))
def test_flo_keeps_float32_displacements(flow, tmp_path_factory):
    path = tmp_path_factory.mktemp("flow") / "a.flo"
    write_flow(path, flow)
    found = read_flow(path, t_start=flow.t_start, t_end=flow.t_end)
    same_frame(found, flow)
    np.testing.assert_allclose(found.velocity, flow.velocity, rtol=3e-7, atol=1e-30)


@given(flow=flows(255.75))
def test_png_rounds_to_half_a_step(flow, tmp_path_factory):
    path = tmp_path_factory.mktemp("flow") / "a.png"
    write_flow(path, flow)
    found = read_flow(path)
    same_frame(found, flow)
    error_px = np.abs(found.displacement_px - flow.displacement_px)[flow.valid]
    assert (error_px <= 0.5 / 128 + 1e-4).all()


@pytest.mark.parametrize("suffix", [".npz", ".flo", ".png"])
def test_same_flow_gives_same_bytes(tmp_path, suffix):
    one, other = (tmp_path / f"{name}{suffix}" for name in "ab")
    write_flow(one, random_flow())
    write_flow(other, random_flow())
    assert one.read_bytes() == other.read_bytes()


def test_numpy_loads_the_archive(tmp_path):
    flow = random_flow()
    write_flow(tmp_path / "a.npz", flow)
    with np.load(tmp_path / "a.npz") as archive:
        assert set(archive) == {"velocity", "valid", "t_start", "t_end"}
        np.testing.assert_array_equal(archive["velocity"], flow.velocity)
        np.testing.assert_array_equal(archive["valid"], flow.valid)
        assert (int(archive["t_start"]), int(archive["t_end"])) == (5, 30_005)


def test_flo_bytes_are_those_of_the_specification(tmp_path):
    # Middlebury: 202021.25, width, height, then u, v of each pixel, row by row; 1e10 is unknown.
    velocity = np.array([[[1000.0, -500.0], [0.0, 0.0]]])
    write_flow(tmp_path / "a.flo", Flow(velocity, np.array([[True, False]]), 0, 10_000))
    expected = struct.pack("<f2i4f", 202021.25, 2, 1, 10.0, -5.0, 1e10, 1e10)
    assert (tmp_path / "a.flo").read_bytes() == expected


def test_flo_takes_large_values_and_nan_as_unknown(tmp_path):
    values = (1.0, 2.0, 1e10, 1e10, 0.0, -2e9, np.nan, 0.0, -1e9, 1e9)
    (tmp_path / "a.flo").write_bytes(struct.pack("<4s2i10f", b"PIEH", 5, 1, *values))
    flow = read_flow(tmp_path / "a.flo", t_start=0, t_end=1_000_000)
    assert flow.valid.tolist() == [[True, False, False, False, True]]
    assert flow.velocity[0, 0].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("suffix", [".flo", ".png"])
def test_files_without_time_need_it(tmp_path, suffix):
    from evcrisp.io.flow.rgb48 import write_rgb48

    path = tmp_path / f"a{suffix}"
    if suffix == ".png":  # as DSEC has them: 640 / 128 = 5 px over 100 ms
        write_rgb48(path, np.array([[[2**15 + 640, 2**15, 1]]], np.uint16), {})
    else:
        path.write_bytes(struct.pack("<4s2i2f", b"PIEH", 1, 1, 5.0, 0.0))
    with pytest.raises(ConfigError, match="`t_start` and `t_end` must be given.*100 ms"):
        read_flow(path)
    flow = read_flow(path, t_start=0, t_end=100_000)
    np.testing.assert_allclose(flow.velocity[0, 0], [50.0, 0.0], rtol=1e-6)
    with pytest.raises(ConfigError, match="`t_end` must be a whole number; got None. Give both"):
        read_flow(path, t_start=0)


@pytest.mark.parametrize("suffix", [".npz", ".png"])
def test_time_must_agree_with_the_file(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    write_flow(path, random_flow())
    assert read_flow(path, t_start=5, t_end=30_005).t_end == 30_005
    with pytest.raises(ConfigError, match=r"spans 5 to 30005 us; got \(0, 30000\). Omit them"):
        read_flow(path, t_start=0, t_end=30_000)


@pytest.mark.parametrize(
    ("suffix", "too_far_px"), [(".png", 255.9961), (".png", -256.01), (".flo", 1.1e9)]
)
def test_displacement_beyond_the_format_raises(tmp_path, suffix, too_far_px):
    path, valid = tmp_path / f"a{suffix}", np.ones((1, 2), bool)
    flow = Flow([[[0.0, too_far_px], [0.0, 0.0]]], valid, 0, 1_000_000)
    with pytest.raises(ConfigError, match=r"^1 pixel moves beyond .* Use .npz or shorter windows"):
        write_flow(path, flow)
    assert not path.exists()
    write_flow(path, Flow(flow.velocity, [[False, True]], 0, 1_000_000))
    write_flow(tmp_path / "a.npz", flow)


def test_extreme_displacements_of_png_fit(tmp_path):
    flow = Flow([[[-256.0, 255.9921875]]], np.ones((1, 1), bool), 0, 1_000_000)
    write_flow(tmp_path / "a.png", flow)
    np.testing.assert_array_equal(read_flow(tmp_path / "a.png").velocity, flow.velocity)


def test_existing_file_stays_without_overwrite(tmp_path):
    path = tmp_path / "a.flo"
    path.write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        write_flow(path, random_flow())
    assert path.read_text() == "mine"
    write_flow(path, random_flow(), overwrite=True)
    assert path.read_bytes()[:4] == b"PIEH"
    assert [file.name for file in tmp_path.iterdir()] == ["a.flo"]


@pytest.mark.parametrize("name", ["a.tiff", "a", "flo"])
def test_unknown_suffix_raises(tmp_path, name):
    for call in (
        lambda: read_flow(tmp_path / name),
        lambda: write_flow(tmp_path / name, random_flow()),
    ):
        with pytest.raises(ConfigError, match=r"No flow format.*Use one of .npz, .flo, .png"):
            call()


def test_flow_that_could_not_be_read_again_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("evcrisp.io.flow.files.MAX_PIXELS", 76)
    with pytest.raises(ConfigError, match="`flow` must have at most 76 pixels; got 77"):
        write_flow(tmp_path / "a.npz", random_flow((7, 11)))


def test_other_objects_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="`flow` must be a Flow"):
        write_flow(tmp_path / "a.npz", np.zeros((3, 4, 2)))


@pytest.mark.parametrize("suffix", [".npz", ".flo", ".png"])
def test_missing_file_is_not_damage(tmp_path, suffix):
    with pytest.raises(FileNotFoundError):
        read_flow(tmp_path / f"a{suffix}")
