"""A ragged batch of windows on a torch device."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.windows import Window
from evcrisp.motion import MotionModel, Translation
from evcrisp.search.on_device.frame_constants import Frame
from evcrisp.search.on_device.problem import Points
from evcrisp.tensors.cuda.kernels import Kernels, kernels_of
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.rows import Rows

#: Longest window, us: its times fit in 32 bits.
_MAX_US = 2**31 - 1


class Columns(NamedTuple):
    """Events of consecutive windows as the device takes them: 9 bytes each."""

    x: Any  # (n,) int16, bits of uint16, px
    y: Any
    tau: Any  # (n,) int32, us since the reference time of the window
    p: Any  # (n,) uint8


@dataclass(frozen=True, slots=True, eq=False)
class WindowBatch:
    """Windows of different length, one after the other; each has the rectangle of its events.

    Tensors have a row for each event, or for each window.
    """

    rows: Rows
    x: Tensor  # (n,) int64, px of the rectangle
    y: Tensor
    p: Tensor  # (n,) int64, 0 or 1
    points: Points  # positions as the kernels of the motion model take them, and times
    left: Tensor  # (b,) int64, corner of the rectangle, px of the sensor
    top: Tensor
    width: Tensor  # (b,) int64, px
    height: Tensor
    duration_s: Tensor  # (b,)
    frames: tuple[Frame, ...]  # motion model and size of each rectangle
    model: MotionModel  # of the sensor
    resolution: tuple[int, int]  # of the sensor

    @classmethod
    def of(cls, windows: Sequence[Window], model: MotionModel, device: Any) -> "WindowBatch":
        """Return windows with one or more events each."""
        counts = [len(window.events) for window in windows]
        rows = Rows.of_lengths(counts, device)
        durations = [(window.t_end - window.t_start) / 1e6 for window in windows]
        columns = Columns(*(_moved(c, device) for c in columns_of(windows)))
        seconds = torch.tensor(durations, dtype=torch.float64, device=device)
        return cls.of_columns(rows, columns, seconds, model, windows[0].events.resolution)

    @classmethod
    def of_columns(
        cls,
        rows: Rows,
        columns: Columns,
        duration_s: Tensor,
        model: MotionModel,
        resolution: tuple[int, int],
    ) -> "WindowBatch":
        """Return windows whose events are on the device already."""
        kernels = kernels_of("windows.cu", duration_s.device)
        if kernels is None:
            limits, *found = _in_rectangles(rows, columns, model, resolution)
        else:
            limits, *found = _in_rectangles_by(kernels, rows, columns, model, resolution)
        x, y, p, u, v, dt = found
        left, top, right, bottom = limits.unbind(1)
        width, height = right - left + 1, bottom - top + 1
        boxes = torch.stack((left, top, width, height), 1).tolist()
        known = {box: _frame(model, *box) for box in set(map(tuple, boxes))}
        frames = tuple(known[tuple(box)] for box in boxes)
        return cls(
            rows, x, y, p, Points(rows, u, v, dt), left, top, width, height, duration_s, frames,
            model, resolution,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.frames)

    def taken(self, chosen: Tensor) -> "WindowBatch":
        """Return some of the windows, by number."""
        rows, index = self.rows.taken(chosen)
        x, y, p = (column.index_select(0, index) for column in (self.x, self.y, self.p))
        names = "left", "top", "width", "height", "duration_s"
        columns = (getattr(self, name).index_select(0, chosen) for name in names)
        frames = tuple(self.frames[number] for number in chosen.tolist())
        points = self.points.taken(chosen)
        return WindowBatch(rows, x, y, p, points, *columns, frames, self.model, self.resolution)

    def kernel_points(self, row: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Return pixels of the rectangles of windows ``row``, all (k,), as the kernels take them."""
        if not self.model.uses_rays:
            return x.to(torch.float64), y.to(torch.float64)
        x, y = x + self.left.index_select(0, row), y + self.top.index_select(0, row)
        return _kernel_points(self.model, x, y, self.resolution)

    def unmoved(self) -> "WindowBatch":
        """Return the same windows with translations, whose points are pixels."""
        model = Translation()
        frames = tuple(Frame(model, frame.resolution) for frame in self.frames)
        x, y = self.x.to(torch.float64), self.y.to(torch.float64)
        points = Points(self.rows, x, y, self.points.dt)
        return replace(self, points=points, frames=frames, model=model)

    @property
    def sizes(self) -> list[tuple[int, int]]:
        """Width and height of the rectangles, px."""
        return [frame.resolution for frame in self.frames]


def columns_of(windows: Sequence[Window]) -> Columns:
    """Return the events of windows as arrays, with times relative to the middle of each window."""
    longest = max(window.t_end - window.t_start for window in windows)
    if longest > _MAX_US:
        raise ConfigError(f"A window of {longest / 1e6:.0f} s is too long for this device.")
    events = [window.events for window in windows]
    return Columns(
        np.concatenate([part.x for part in events]).view(np.int16),
        np.concatenate([part.y for part in events]).view(np.int16),
        np.concatenate([(w.events.t - w.t_ref).astype(np.int32) for w in windows]),
        np.concatenate([part.p for part in events]).view(np.uint8),
    )


def _moved(column: Any, device: Any) -> Tensor:
    """Return a column on a device; from pinned memory, where copies to a GPU are fast."""
    tensor = torch.from_numpy(column)
    if torch.device(device).type != "cuda":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


def _in_rectangles(
    rows: Rows, columns: Columns, model: MotionModel, resolution: tuple[int, int]
) -> tuple[Tensor, ...]:
    """Return left, top, right, bottom of windows, (b, 4), x, y, p of events there, and points."""
    x, y = (column.to(torch.int64) & 0xFFFF for column in columns[:2])
    ends = rows.min(x), rows.min(y), rows.max(x), rows.max(y)
    limits = torch.stack([side.to(torch.int64) for side in ends], 1)
    left, top = (rows.spread(limits[:, k]) for k in range(2))
    u, v = _kernel_points(model, x, y, resolution)
    if not model.uses_rays:
        u, v = u - left, v - top
    dt = columns.tau.to(torch.float64) / 1e6
    return limits, x - left, y - top, columns.p.to(torch.int64), u, v, dt


def _in_rectangles_by(
    kernels: Kernels, rows: Rows, columns: Columns, model: MotionModel, resolution: tuple[int, int]
) -> tuple[Tensor, ...]:
    """Return the same by kernels."""
    device = rows.row.device
    x, y, tau, p = (column.contiguous() for column in columns)
    limits = torch.empty((len(rows), 4), dtype=torch.int64, device=device)
    kernels.launch(
        "limits_of_windows", len(rows), 256, 0, x, y, rows.starts, rows.counts, limits
    )  # fmt: skip
    rays = _rays(model, resolution, device) if model.uses_rays else (None, None)
    whole = [torch.empty_like(rows.row) for _ in range(3)]
    points = [torch.empty(rows.size, dtype=torch.float64, device=device) for _ in range(3)]
    kernels.launch_each(
        "columns_of_windows", rows.size, x, y, tau, p, rows.row, rows.size, limits, *rays,
        resolution[0], *whole, *points,
    )  # fmt: skip
    return limits, *whole, *points


def _frame(model: MotionModel, left: int, top: int, width: int, height: int) -> Frame:
    move: Any = getattr(model, "on_region", None)
    if move is None:
        raise ConfigError(
            "has no `on_region`, which this device needs", parameter="motion", value=model.name,
            remedy="Use the device 'cpu'.",
        )  # fmt: skip
    return Frame(move(left, top), (width, height))


def _kernel_points(
    model: MotionModel, x: Tensor, y: Tensor, resolution: tuple[int, int]
) -> tuple[Tensor, Tensor]:
    """Return pixels of the sensor as the kernels take them, in double precision."""
    if not model.uses_rays:
        return x.to(torch.float64), y.to(torch.float64)
    index = y * resolution[0] + x
    u, v = (part.index_select(0, index) for part in _rays(model, resolution, x.device))
    return u, v


@lru_cache(maxsize=8)
def _rays(model: MotionModel, resolution: tuple[int, int], device: Any) -> tuple[Tensor, ...]:
    """Return all pixels of a sensor as the kernels of a motion model take them, row by row."""
    width, height = resolution
    row, column = np.mgrid[0:height, 0:width].astype(np.float64)
    table = model.kernel_points(column.ravel(), row.ravel(), resolution)
    return tuple(torch.from_numpy(part).to(device) for part in table)
