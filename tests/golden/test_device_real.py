"""Motions and labels of real windows on tensors are those of the compiled kernels."""

import numpy as np
import pytest

import evcrisp
from evcrisp import Window
from evcrisp.estimators.auto.auto import AutoRegret
from evcrisp.estimators.devices import DeviceMethod
from evcrisp.motion import Rotation, Translation
from evcrisp.tensors.lazy import torch

#: Largest difference of motions, px of displacement within a window, and least share of equal labels.
MAX_PX, LEAST_EQUAL = 0.05, 0.999


def folder_of(data_dir, name):
    return data_dir / "ecd" / name


def assert_equal_on_a_device(events, model, n_windows=2, length_us=30_000):
    """Compare windows from the middle event on; a recording may end within them."""
    t_first, t_end = int(events.t[len(events) // 2]), int(events.t[-1]) + 1
    starts = range(t_first, min(t_first + n_windows * length_us, t_end), length_us)
    ends = [min(t + length_us, t_end) for t in starts]
    windows = [Window(events.between(a, b), a, b) for a, b in zip(starts, ends, strict=True)]
    windows = [window for window in windows if len(window.events) > 1000]
    assert windows
    method = DeviceMethod(AutoRegret(), model, torch.device("cpu"))
    for found, window in zip(method.estimate(windows), windows, strict=True):
        expected = AutoRegret().run(window, model)
        moved = np.hypot(*(a - b for a, b in zip(
            (found.aligned_x, found.aligned_y), (expected.aligned_x, expected.aligned_y), strict=True
        )))  # fmt: skip
        assert np.nanmax(moved) <= MAX_PX
        assert (found.signal == expected.signal).mean() >= LEAST_EQUAL
        assert found.status is expected.status


@pytest.mark.parametrize(
    "name", ["shapes_rotation_first120k", "stppp_boxes_rotation", "tubrip_dynamic_rotation"]
)
def test_rotations_of_a_hand_held_camera(data_dir, name):
    folder = folder_of(data_dir, name)
    model = Rotation(evcrisp.Camera.from_file(folder / "calib.txt"))
    assert_equal_on_a_device(evcrisp.read(next(folder.glob("events*"))), model)


@pytest.mark.parametrize("name", ["stppp_boxes_translation", "slider_depth_chunk"])
def test_translations(data_dir, name):
    events = evcrisp.read(next(folder_of(data_dir, name).glob("events*")))
    assert_equal_on_a_device(events, Translation())


@pytest.mark.parametrize("method", ["baf", "stcf", "ynoise", "ebf"])
def test_filters_label_every_event_alike(data_dir, method):
    events = evcrisp.read(data_dir / "aedat4" / "dvxplorer_320x240_tonic_sample.aedat4")
    found = evcrisp.denoise(events, method, device="torch-cpu")
    expected = evcrisp.denoise(events, method)
    np.testing.assert_array_equal(found.score, expected.score)
    np.testing.assert_array_equal(found.signal, expected.signal)
    assert 0 < expected.signal.sum() < len(events)
