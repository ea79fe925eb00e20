"""Traffic with true boxes: slopes, events in boxes, and boxes of layers, on a recording made here."""

from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.quality import inbound
from scipy.io import savemat

BOX = (100.0, 100.0, 40.0, 30.0)
SHIFT = (4.0, 2.0)  # px per frame


def cells(rows):
    table = np.empty((len(rows), 1), object)
    for k, row in enumerate(rows):
        table[k, 0] = np.array(row)
    return table


@pytest.fixture
def folder(tmp_path, rng):
    """A vehicle that moves by `SHIFT` per frame, and one that enters over the left border."""
    n_frames, rows = 12, []
    for frame in range(1, n_frames + 1):
        t = np.sort(rng.integers((frame - 1) * 40_000, frame * 40_000, 200))
        t[0] = (frame - 1) * 40_000
        x = rng.integers(0, 40, 200) + 100 + 4 * frame
        y = rng.integers(0, 30, 200) + 100 + 2 * frame
        rows.append(np.column_stack((x, y, rng.integers(0, 2, 200), t, np.full(200, frame))))
    boxes = [
        [
            (BOX[0] + SHIFT[0] * k, BOX[1] + SHIFT[1] * k, BOX[2], BOX[3]),
            (1.0, 20.0, 5.0 + 3.0 * k, 20.0),
        ]
        for k in range(n_frames + 5)
    ]
    (tmp_path / "remot").mkdir()
    savemat(tmp_path / "remot" / "inbound.mat", {"events": np.concatenate(rows).astype(np.int32)})
    truth = {"gtBoxes": cells(boxes), "gtIDs": cells([[7, 8]] * len(boxes))}
    savemat(tmp_path / "remot" / "inboundGT.mat", truth)
    return tmp_path


def test_vehicles_have_slopes_and_cut_boxes_are_marked(folder):
    scene = inbound.Inbound.of(folder)
    assert len(scene.frames) == 10  # the first and the last may be incomplete
    for vehicles in scene.frames:
        whole, cut = vehicles
        assert (whole.id, cut.id) == (7, 8)
        np.testing.assert_allclose(whole.shift_px, SHIFT, atol=1e-9)
        assert not whole.is_cut
        assert cut.is_cut


def test_windows_are_frames_and_events_are_in_their_boxes(folder):
    scene = inbound.Inbound.of(folder)
    windows = list(scene.windows(scene.events))
    assert sum(len(window.events) for window, _ in windows) == len(scene.events)
    for window, vehicles in windows:
        assert window.t_end - window.t_start == 40_000
        np.testing.assert_array_equal(
            inbound.inside(window.events, vehicles).sum(axis=1), [len(window.events), 0]
        )


def test_true_motion_has_no_error_and_true_boxes_have_a_hota_of_1(folder):
    scene = inbound.Inbound.of(folder)
    results = [
        SimpleNamespace(
            velocity=np.full((len(window.events), 2), SHIFT) / 0.04,
            window=window,
            layers=[Layer(vehicle) for vehicle in vehicles],
        )
        for window, vehicles in scene.windows(scene.events)
    ]
    motion = inbound.motion_errors(scene, results)
    assert motion["without_cut_boxes"]["median_px"] < 1e-9
    assert motion["without_cut_boxes"]["within_1_px"] == 1.0
    assert motion["without_cut_boxes"]["events"] == len(scene.events)
    boxes = inbound.box_scores(scene, [result.layers for result in results])
    assert boxes["hota"] == pytest.approx(1.0)
    assert boxes["found_tracks"] == 2


def test_boxes_as_large_as_the_view_count_as_found(folder):
    scene = inbound.Inbound.of(folder)
    view = SimpleNamespace(id=99, box=(0.0, 0.0, 346.0, 260.0))
    frames = [[Layer(view), *(Layer(vehicle) for vehicle in frame)] for frame in scene.frames]
    assert inbound.box_scores(scene, frames)["deta"] == pytest.approx(2 / 3)


def test_without_the_recording_it_is_left_out(tmp_path, capsys):
    assert inbound.measure(tmp_path) == {}
    assert "left out" in capsys.readouterr().err


class Layer:
    """A layer with the box of a vehicle."""

    def __init__(self, vehicle):
        self.id, self.box = vehicle.id, tuple(vehicle.box)

    def __len__(self):
        return 100
