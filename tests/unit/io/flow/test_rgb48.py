"""PNG with 16 bits per channel: exchange with ffmpeg, an independent reader and writer."""

import subprocess

import imageio_ffmpeg
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from evcrisp.core.flow import Flow
from evcrisp.io.flow import read_flow, write_flow
from evcrisp.io.flow.rgb48 import read_rgb48, write_rgb48


def ffmpeg(*words, given=None):
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", *map(str, words)]
    return subprocess.run(command, input=given, capture_output=True, check=True).stdout


def decoded(path, shape):
    """Return the pixels of a PNG file as ffmpeg reads them."""
    data = ffmpeg("-i", path, "-f", "rawvideo", "-pix_fmt", "rgb48be", "-")
    return np.frombuffer(data, ">u2").reshape(*shape, 3)


def encode(path, pixels, prediction):
    """Write pixels to a PNG file with ffmpeg."""
    height, width = pixels.shape[:2]
    raw = ("-f", "rawvideo", "-pix_fmt", "rgb48be", "-s", f"{width}x{height}", "-i", "-")
    data = pixels.astype(">u2").tobytes()
    ffmpeg(*raw, "-frames:v", 1, "-pred", prediction, "-pix_fmt", "rgb48be", path, given=data)


def noise_and_ramp(shape):
    """Return pixels for which filters differ: noise beside smooth parts."""
    y, x = np.mgrid[: shape[0], : shape[1]]
    pixels = np.stack((300 * x + 7 * y, 65_535 - 290 * y, (x + y) % 2), axis=2) % 65_536
    noise = np.random.default_rng(3).integers(0, 65_536, pixels.shape)
    return np.where((x + 2 * y)[..., None] % 11 < 3, noise, pixels).astype(np.uint16)


@pytest.mark.parametrize("shape", [(17, 23), (1, 40), (40, 1), (64, 48)])
def test_ffmpeg_reads_what_we_write(tmp_path, shape):
    pixels = noise_and_ramp(shape)
    write_rgb48(tmp_path / "a.png", pixels, {"t_start_us": "1"})
    np.testing.assert_array_equal(decoded(tmp_path / "a.png", shape), pixels)


@pytest.mark.parametrize("prediction", ["none", "sub", "up", "avg", "paeth", "mixed"])
@pytest.mark.parametrize("shape", [(17, 23), (1, 40), (40, 1), (64, 48)])
def test_we_read_all_filters_of_ffmpeg(tmp_path, prediction, shape):
    pixels = noise_and_ramp(shape)
    encode(tmp_path / "a.png", pixels, prediction)
    found, texts = read_rgb48(tmp_path / "a.png")
    np.testing.assert_array_equal(found, pixels)
    assert "t_start_us" not in texts


def test_flow_image_has_the_values_of_dsec(tmp_path):
    # DSEC: 128 * displacement + 2**15 for x and y, then 1 for valid pixels.
    velocity = np.array([[[100.0, -50.0], [0.0, 0.0], [9.0, 9.0]]])
    flow = Flow(velocity, np.array([[True, True, False]]), 0, 100_000)
    write_flow(tmp_path / "a.png", flow)
    expected = [[[2**15 + 1280, 2**15 - 640, 1], [2**15, 2**15, 1], [2**15, 2**15, 0]]]
    np.testing.assert_array_equal(decoded(tmp_path / "a.png", (1, 3)), expected)


def test_flow_image_of_another_program_is_read(tmp_path):
    pixels = np.array([[[2**15 + 1280, 2**15 - 640, 1], [0, 0, 0]]] * 16, np.uint16)
    encode(tmp_path / "a.png", pixels, "paeth")
    flow = read_flow(tmp_path / "a.png", t_start=0, t_end=100_000)
    np.testing.assert_array_equal(flow.valid, [[True, False]] * 16)
    np.testing.assert_allclose(flow.velocity[:, 0], [[100.0, -50.0]] * 16, rtol=1e-6)


@given(pixels=npst.arrays(np.uint16, npst.array_shapes(min_dims=2, max_dims=2, max_side=9).map(
    lambda shape: (*shape, 3))), text=st.text(st.characters(codec="latin-1", exclude_characters="\0")))  # fmt: skip
def test_pixels_and_texts_come_back(pixels, text, tmp_path_factory):
    path = tmp_path_factory.mktemp("png") / "a.png"
    write_rgb48(path, pixels, {"key": text})
    found, texts = read_rgb48(path)
    np.testing.assert_array_equal(found, pixels)
    assert texts == {"key": text}
