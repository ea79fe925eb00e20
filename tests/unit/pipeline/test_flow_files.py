"""Flow files of a recording: content, replacement, cancellation."""

import csv
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import evcrisp
from evcrisp import Estimate, FormatError, OutputError, Status, UnknownNameError, Windowing
from evcrisp.pipeline.cancellation import CancellationToken

SIZE = (80, 60)


@pytest.fixture(scope="module")
def events():
    scene = evcrisp.simulate(
        resolution=SIZE, theta=(250.0, -100.0), duration_us=100_000, noise_hz=5.0, seed=4
    )
    return scene.events


@pytest.fixture
def recording(events, tmp_path):
    path = tmp_path / "scene.npz"
    evcrisp.write(path, events)
    return path


@dataclass(frozen=True)
class Fixed:
    """An estimator that knows the motion."""

    name: ClassVar[str] = "fixed"
    theta: tuple[float, ...] = (100.0, 0.0)

    def run(self, window, model, theta0=None):
        n = len(window.events)
        aligned = model.warp(self.theta, window.events.x, window.events.y, np.zeros(n))
        return Estimate(
            theta=np.array(self.theta), signal=np.ones(n, bool), score=np.ones(n),
            confidence=np.ones(n), aligned_x=aligned[0], aligned_y=aligned[1],
            status=Status.CONVERGED, motion=model, window=window, config=self,
        )  # fmt: skip


def rows_of(folder):
    with (folder / "flow.csv").open() as file:
        return list(csv.DictReader(file))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_files_have_the_flow_of_track(recording, events, tmp_path):
    windowing = Windowing(window_us=40_000, overlap=0.5)
    seen = []
    result = evcrisp.write_flow_files(
        recording, tmp_path / "out", method="cmax", windowing=windowing, on_chunk=seen.append
    )
    estimates = list(evcrisp.track(events, "cmax", windowing=windowing))
    assert len(result.files) == len(estimates) >= 4
    for path, estimate in zip(result.files, estimates, strict=True):
        found, expected = evcrisp.read_flow(path), estimate.flow()
        np.testing.assert_array_equal(found.velocity, expected.velocity)
        assert (found.t_start, found.t_end) == (expected.t_start, expected.t_end)
    assert sum(map(len, seen)) == len(events)  # every event once, although windows overlap
    assert not result.is_cut


def test_table_has_a_row_per_window(recording, events, tmp_path):
    windowing = evcrisp.Windowing(window_us=30_000)
    evcrisp.write_flow_files(recording, tmp_path / "out", method="cmax", windowing=windowing)
    rows = rows_of(tmp_path / "out")
    estimates = list(evcrisp.track(events, "cmax", windowing=windowing))
    assert len(rows) == len(estimates) == 4
    for number, (row, estimate) in enumerate(zip(rows, estimates, strict=True)):
        assert (row["window"], row["file"]) == (str(number), f"flow-{number:06d}.npz")
        assert int(row["t_start_us"]) == estimate.window.t_start
        assert int(row["t_end_us"]) == estimate.window.t_end
        assert float(row["valid_share"]) == 1.0
        speed = np.hypot(*estimate.theta)
        assert float(row["mean_speed [px/s]"]) == pytest.approx(speed, rel=1e-5)
        assert row["status"] == estimate.status.name.lower()
        assert row["warnings"] == " | ".join(estimate.warnings).replace(",", ";")


def test_windows_without_motion_have_no_valid_pixels(events, tmp_path):
    late = events.t + 90_000 * (events.t > 50_000)
    quiet = evcrisp.Events(x=events.x, y=events.y, t=late, p=events.p, resolution=SIZE)
    evcrisp.write(tmp_path / "quiet.npz", quiet)
    windowing = evcrisp.Windowing(window_us=30_000)
    result = evcrisp.write_flow_files(
        tmp_path / "quiet.npz", tmp_path / "out", method="cmax", windowing=windowing
    )
    rows = rows_of(tmp_path / "out")
    silent = [number for number, row in enumerate(rows) if row["status"] == "too_few_events"]
    assert silent
    for number in silent:
        assert (rows[number]["valid_share"], rows[number]["mean_speed [px/s]"]) == ("0", "nan")
        assert not evcrisp.read_flow(result.files[number]).valid.any()


def test_pixels_beyond_the_format_are_not_valid(recording, tmp_path):
    # The speed grows with x: 0 at the left border, beyond 255.99 px in 30 ms at the right one.
    slope = 2 * 256 / 0.03 / (SIZE[0] - 1)
    theta = (slope * (SIZE[0] - 1) / 2, 0.0, slope, 0.0, 0.0, 0.0)
    arguments = {"method": Fixed(theta), "motion": "affine"}
    result = evcrisp.write_flow_files(recording, tmp_path / "out", format="png", **arguments)
    whole = evcrisp.write_flow_files(recording, tmp_path / "whole", **arguments)
    flow, expected = evcrisp.read_flow(result.files[0]), evcrisp.read_flow(whole.files[0])
    fits = (np.abs(expected.displacement_px) <= 255.9921875).all(axis=2)
    assert 0.2 < fits.mean() < 0.8
    np.testing.assert_array_equal(flow.valid, fits)
    row = rows_of(tmp_path / "out")[0]
    assert (
        f"{(~fits).sum():,}".replace(",", ";") + " pixels move farther than .png" in row["warnings"]
    )
    assert float(row["valid_share"]) == pytest.approx(fits.mean(), rel=1e-5)
    assert "farther" not in rows_of(tmp_path / "whole")[0]["warnings"]


def test_existing_files_stay_without_overwrite(recording, tmp_path):
    out = tmp_path / "out"
    evcrisp.write_flow_files(recording, out, method=Fixed())
    before = contents(out)
    for format in ("npz", "png"):  # files of two formats would not be told apart
        with pytest.raises(OutputError, match="flow-000000.npz exists already. Replace it"):
            evcrisp.write_flow_files(recording, out, format=format, method=Fixed((7.0, 7.0)))
    assert contents(out) == before


def test_overwrite_removes_files_of_the_earlier_run_only(recording, tmp_path):
    out = tmp_path / "out"
    evcrisp.write_flow_files(recording, out, method=Fixed())
    (out / "flow-000009.npz").write_text("not in the table")
    (out / "notes.txt").write_text("mine")
    windowing = Windowing(window_us=60_000)
    arguments = {"method": Fixed(), "windowing": windowing, "format": "flo", "overwrite": True}
    evcrisp.write_flow_files(recording, out, **arguments)
    names = {"flow-000000.flo", "flow-000001.flo", "flow.csv", "flow-000009.npz", "notes.txt"}
    assert set(contents(out)) == names
    assert [row["file"] for row in rows_of(out)] == ["flow-000000.flo", "flow-000001.flo"]


def test_cancelled_run_keeps_finished_windows(recording, tmp_path):
    token = CancellationToken()
    seen = []

    def stop_in_second_window(chunk):
        seen.append(chunk)
        if len(seen) == 2:
            token.cancel()

    out = tmp_path / "out"
    arguments = {"method": Fixed(), "on_chunk": stop_in_second_window, "cancellation": token}
    result = evcrisp.write_flow_files(recording, out, **arguments)
    assert result.is_cut
    assert set(contents(out)) == {"flow-000000.npz", "flow-000001.npz", "flow.csv"}
    assert len(rows_of(out)) == len(result.files) == 2
    first, second = map(evcrisp.read_flow, result.files)
    assert second.t_start == first.t_end


def test_cancelled_run_keeps_older_files(recording, tmp_path):
    out = tmp_path / "out"
    evcrisp.write_flow_files(recording, out, method=Fixed())
    before = contents(out)
    token = CancellationToken()
    arguments = {"method": Fixed((9.0, 9.0)), "cancellation": token, "overwrite": True}
    with pytest.raises(KeyboardInterrupt):
        evcrisp.write_flow_files(recording, out, on_chunk=lambda _: token.cancel(), **arguments)
    assert contents(out) == before


def test_damage_leaves_no_files(recording, tmp_path):
    data = recording.read_bytes()
    recording.write_bytes(data[: len(data) // 2])
    with pytest.raises(FormatError):
        evcrisp.write_flow_files(recording, tmp_path / "out", method=Fixed())
    assert not list((tmp_path / "out").glob("*"))


def test_input_is_never_replaced(recording, tmp_path):
    source = recording.rename(tmp_path / "flow-000001.npz")
    before = source.read_bytes()
    with pytest.raises(OutputError, match="is the input itself"):
        evcrisp.write_flow_files(source, tmp_path, method=Fixed(), overwrite=True)
    (tmp_path / "flow.csv").write_text("window,file\n1,flow-000001.npz\n")
    with pytest.raises(OutputError, match="is the input itself"):
        evcrisp.write_flow_files(source, tmp_path, method=Fixed(), overwrite=True, format="png")
    assert contents(tmp_path)[source.name] == before


def test_empty_recording_has_an_empty_table(tmp_path):
    evcrisp.write(tmp_path / "none.npz", evcrisp.Events.empty(SIZE))
    result = evcrisp.write_flow_files(tmp_path / "none.npz", tmp_path / "out")
    assert result.files == ()
    assert rows_of(tmp_path / "out") == []


def test_unknown_format_creates_no_folder(recording, tmp_path):
    with pytest.raises(UnknownNameError, match="Unknown flow format 'pgn'. Did you mean 'png'"):
        evcrisp.write_flow_files(recording, tmp_path / "out", format="pgn")
    assert not (tmp_path / "out").exists()
