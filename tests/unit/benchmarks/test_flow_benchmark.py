"""Benchmark of flow: its errors, its published field, and the point about which an image turns."""

import numpy as np
import pytest
from benchmarks.quality import flow
from scipy.io import savemat

import evcrisp


def test_field_of_the_bar_is_turned_to_rows_from_the_top(tmp_path):
    x_velocity, y_velocity = np.zeros((2, 180, 240))
    x_velocity[10, 20], y_velocity[10, 20] = 3.0, 4.0
    path = tmp_path / "truth.mat"
    savemat(path, {"vxGT": x_velocity, "vyGT": y_velocity, "ts": np.array([[5, 9]])})
    field, t_first, t_last = flow.bar_truth(path)
    assert (t_first, t_last) == (5, 9)
    assert field[169, 20].tolist() == [3.0, -4.0]
    assert np.isfinite(field).sum() == 2


def test_normal_flow_does_not_see_motion_at_right_angles():
    truth = np.array([[10.0, 0.0], [0.0, -20.0]])
    found = truth + np.array([[0.0, 5.0], [-7.0, 0.0]])
    errors = flow._errors(found, truth, None, duration_s=0.1)
    assert errors["relative_normal"] == 0.0
    assert errors["relative"] == pytest.approx(6.0 / 15.0)
    assert errors["aee_px"] == pytest.approx(0.6)
    assert flow._errors(0.0 * truth, truth, None, 0.1)["relative"] == pytest.approx(1.0)


def test_estimates_without_a_velocity_are_errors():
    truth = np.full((4, 2), 10.0)
    errors = flow._errors(np.full((4, 2), np.nan), truth, None, 1.0)
    assert errors["relative"] == pytest.approx(1.0)
    assert errors["n"] == 4


def test_image_that_rolls_rests_in_its_middle():
    scene = evcrisp.simulate(
        motion="rotation", theta=(0.0, 0.0, 1.5), resolution=(160, 120), duration_us=200_000, seed=1
    )
    x, y = flow.point_at_rest(scene.events)
    assert abs(x - 79.5) < 1.0
    assert abs(y - 59.5) < 1.0


def test_parts_without_recordings_are_left_out(tmp_path, capsys):
    results = flow.main(["--data", str(tmp_path), "-o", str(tmp_path / "flow.json")])
    assert results == {"rotations": {}, "bar": {}, "disk": {}, "targets": []}
    assert capsys.readouterr().err.count("left out") == 3
    assert (tmp_path / "flow.json").is_file()


def test_unknown_parts_are_refused(capsys):
    with pytest.raises(SystemExit):
        flow.main(["bars"])
    assert "unknown parts: bars" in capsys.readouterr().err
