"""Table 3: angular velocity on ECD against the gyroscope."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from evcrisp.core.errors import EventDataError
from evcrisp.core.messages import counted
from evcrisp.core.sensor_data import Imu
from evcrisp.core.types import Bools, Floats
from evcrisp.experiments import paper
from evcrisp.experiments.bootstrap import Interval, rms_intervals
from evcrisp.experiments.datasets import Clip
from evcrisp.experiments.methods import GYRO, TABLE3, ZERO, Kind, Method
from evcrisp.experiments.protocols import measure_motion
from evcrisp.experiments.tables.options import Done, Options, failure_notes
from evcrisp.experiments.tables.table import Cell, Column, Row, Table
from evcrisp.experiments.task_runner import Task
from evcrisp.io.reading import open_recording

#: Three conventions that reduce the errors of three axes to one number.
TITLES = {
    "vector": "RMSE of the angular velocity, deg/s: root mean square of the norm of the error, "
    "the paper's formula (lower is better)",
    "pooled": "The same over all axes and windows, as in ST-PPP: the numbers above over sqrt(3)",
    "axis": "The same as the mean of the RMS of the three axes, as in EventEMin",
}

#: End of the evaluation, s after the first IMU sample; at the end the camera is put down.
LAST_S = 59.75

#: Offsets between camera and gyroscope that the note compares, us.
OFFSETS_US = range(-10_000, 10_001, 200)


class Table3:
    """RMSE of each method, of zero output, and of the gyroscope averaged over the window."""

    name: ClassVar[str] = "table3"
    title: ClassVar[str] = "Table 3: angular velocity on ECD against the gyroscope"
    dataset: ClassVar[str] = "ecd"
    kinds: ClassVar[tuple[Kind, ...]] = ("estimator",)

    def methods(self, options: Options) -> tuple[Method, ...]:
        """Return all rows of the paper, and ours."""
        return TABLE3

    def tasks(self, root: Path, clips: Sequence[Clip], options: Options) -> list[Task]:
        """Return one task per sequence and method, zero output included."""
        settings = {"window_events": options.window_events, "max_events": options.max_events}
        rows = (ZERO, *options.rows(TABLE3, self.kinds)[0])
        return [Task(measure_motion, clip, row, settings) for clip in clips for row in rows]

    def tables(self, done: Done, clips: Sequence[Clip], options: Options) -> list[Table]:
        """Return a table per convention."""
        methods, left_out = options.rows(TABLE3, self.kinds)
        columns = tuple(
            Column(
                key=clip.name,
                label=clip.name.replace("_", " "),
                group="Translation" if clip.name.endswith("translation") else "Rotation",
                better="low",
            )
            for clip in sorted(clips, key=lambda clip: clip.name.endswith("translation"))
        )
        errors, n_windows, best = self._errors(done, clips, options)
        notes = (
            f"Windows of {counted(options.window_events, 'event')} ({n_windows} in all), evaluated at their "
            f"middle plus {options.imu_offset_us / 1000:g} ms; intervals are 95 % by bootstrap of "
            "blocks of windows.",
            "The model is rotation for all sequences. On those with translation the true rotation is "
            "small, so that zero output can win: they are no test of alignment.",
            *best,
            *left_out,
            *failure_notes(done),
        )
        found = {place: rms_intervals(error, seed=options.seed) for place, error in errors.items()}
        return [
            Table(
                name="table3" if convention == "vector" else f"table3-{convention}",
                title=title,
                columns=columns,
                rows=tuple(
                    _row(method, columns, found, convention) for method in (*methods, ZERO, GYRO)
                ),
                notes=notes if convention == "vector" else (),
            )
            for convention, title in TITLES.items()
        ]

    def _errors(
        self, done: Done, clips: Sequence[Clip], options: Options
    ) -> tuple[dict[tuple[str, str], Floats], int, tuple[str, ...]]:
        """Return (method, sequence) -> errors in deg/s, the number of windows, and notes."""
        errors: dict[tuple[str, str], Floats] = {}
        n_windows, notes = 0, []
        for clip in clips:
            imu = _gyroscope(clip)
            parts = {
                task.method.key: numbers
                for task, numbers in done
                if numbers is not None and task.clip.name == clip.name
            }
            for key, numbers in parts.items():
                truth, valid = _truth(imu, numbers, options.imu_offset_us)
                if not valid.any():
                    continue
                ours = np.array(numbers["theta_rad_s"]).reshape(-1, 3)[valid]
                errors[key, clip.name] = np.rad2deg(ours - truth)
                if key == "zero":
                    n_windows += int(valid.sum())
                    means = _window_means(imu, numbers, options.imu_offset_us)[valid]
                    errors["gyro", clip.name] = np.rad2deg(means - truth)
            if clip.name.endswith("rotation") and "auto" in parts:
                offset, rms = _best_offset(imu, parts["auto"])
                notes.append(
                    f"{clip.name}: auto fits the gyroscope best at an offset of {offset / 1000:g} ms "
                    f"({rms:.3f} deg/s)."
                )
        return errors, n_windows, tuple(notes)


def _row(
    method: Method,
    columns: Sequence[Column],
    found: Mapping[tuple[str, str], Mapping[str, Interval]],
    convention: str,
) -> Row:
    is_published = convention == "vector" and method.part is None
    known = paper.RMSE.get(method.key, {}) if is_published else {}
    cells = {column.key: Cell(None, known.get(column.key)) for column in columns}
    for key, cell in cells.items():
        if (method.key, key) in found:
            interval = found[method.key, key][convention]
            # A single window has no interval.
            has_interval = interval.low < interval.high
            ends = (interval.low, interval.high) if has_interval else (None, None)
            cells[key] = Cell(interval.value, cell.paper, *ends)
    return Row.of(method, cells)


def _gyroscope(clip: Clip) -> Imu:
    with open_recording(clip.path, resolution=clip.resolution) as recording:
        imu = recording.imu()
    if imu is None or len(imu) < 2:
        raise EventDataError(f"{clip.path} has no IMU samples, which table 3 needs as truth.")
    return imu


def _truth(imu: Imu, numbers: Mapping[str, Any], offset_us: float) -> tuple[Floats, Bools]:
    """Return the gyroscope at the middles of windows, and which windows are evaluated."""
    start, end = (np.array(numbers[name], float) for name in ("t_start_us", "t_end_us"))
    t = (start + end) / 2 + offset_us
    valid = (start + offset_us >= imu.t[0]) & (end + offset_us <= imu.t[-1])
    valid &= t <= imu.t[0] + LAST_S * 1e6
    return _at(imu, t[valid]), valid


def _at(imu: Imu, t: Floats) -> Floats:
    since = imu.t - imu.t[0]
    axes = [np.interp(t - imu.t[0], since, axis) for axis in imu.gyro_rad_s.T]
    return np.column_stack(axes).reshape(-1, 3)


def _window_means(imu: Imu, numbers: Mapping[str, Any], offset_us: float) -> Floats:
    """Return the mean of the gyroscope over every window, from its integral."""
    since = (imu.t - imu.t[0]).astype(float)
    steps = np.diff(since)[:, None] * (imu.gyro_rad_s[1:] + imu.gyro_rad_s[:-1]) / 2
    integral = np.concatenate((np.zeros((1, 3)), np.cumsum(steps, axis=0)))
    edges = (np.array(numbers[name], float) for name in ("t_start_us", "t_end_us"))
    start, end = (edge + offset_us - imu.t[0] for edge in edges)
    turned = [np.interp(end, since, axis) - np.interp(start, since, axis) for axis in integral.T]
    return np.column_stack(turned).reshape(-1, 3) / np.maximum(end - start, 1.0)[:, None]


def _best_offset(imu: Imu, numbers: Mapping[str, Any]) -> tuple[int, float]:
    """Return the offset with the lowest RMSE, us, and that RMSE, deg/s."""
    rms = []
    ours = np.array(numbers["theta_rad_s"]).reshape(-1, 3)
    for offset in OFFSETS_US:
        truth, valid = _truth(imu, numbers, offset)
        error = np.rad2deg(ours[valid] - truth)
        rms.append(float(np.sqrt(np.mean(np.sum(error**2, axis=1)))) if len(error) else np.inf)
    best = int(np.argmin(rms))
    return OFFSETS_US[best], rms[best]
