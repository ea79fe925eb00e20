"""Dense velocity field of one window."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.errors import EventDataError
from evcrisp.core.types import Bools, Singles
from evcrisp.core.validation import as_resolution, check_number


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Flow:
    """Velocity of the image at every pixel, between two times.

    Both arrays are copied and read-only. The velocity is NaN where it is not known, so that a mean
    that forgets ``valid`` shows it.

    Parameters
    ----------
    velocity : array_like, shape (h, w, 2), px/s
        Velocity along x (right) and y (down); stored as float32.
    valid : array_like of bool, shape (h, w)
        Pixels whose velocity is known.
    t_start, t_end : int, us
        Time of the window; ``t_end`` is not part of it.

    Raises
    ------
    EventDataError
        If shapes do not fit, a valid velocity is not finite, or the window ends before it starts.

    Examples
    --------
    >>> flow = Flow(np.full((3, 4, 2), (100.0, -50.0)), np.eye(3, 4) > 0, t_start=0, t_end=20_000)
    >>> flow
    Flow(resolution=4x3, t=0..20000 us, valid=3 of 12, mean speed=111.8 px/s)
    >>> flow.displacement_px[1, 1].tolist()
    [2.0, -1.0]
    >>> flow.at([1, 2, 9], [1, 1, 1]).tolist()
    [[100.0, -50.0], [nan, nan], [nan, nan]]
    """

    velocity: Singles  # (h, w, 2) px/s
    valid: Bools  # (h, w)
    t_start: int  # us
    t_end: int  # us

    def __post_init__(self) -> None:
        with np.errstate(over="ignore"):  # infinity is reported below
            velocity = np.array(self.velocity, np.float32)
        valid = np.array(self.valid)
        if velocity.ndim != 3 or velocity.shape[2] != 2:
            problem = f"must have shape (h, w, 2); got {velocity.shape}"
            raise EventDataError(problem, parameter="velocity")
        height, width = velocity.shape[:2]
        as_resolution((width, height))
        if valid.shape != (height, width) or valid.dtype != np.bool_:
            problem = f"must be bool of shape {(height, width)}; got {valid.dtype} of {valid.shape}"
            raise EventDataError(problem, parameter="valid")
        for name in ("t_start", "t_end"):
            check_number(name, getattr(self, name), whole=True)
            object.__setattr__(self, name, int(getattr(self, name)))
        if not self.t_start < self.t_end:
            raise EventDataError(
                f"A flow must end after it starts; got {self.t_start} to {self.t_end} us."
            )
        unknown = valid & ~np.isfinite(velocity).all(axis=2)
        if unknown.any():
            y, x = np.argwhere(unknown)[0]
            raise EventDataError(
                f"must be finite at valid pixels; got {velocity[y, x].tolist()} at x={x}, y={y}",
                parameter="velocity",
                remedy="Set `valid` to False there.",
            )
        velocity[~valid] = np.nan
        for name, array in (("velocity", velocity), ("valid", valid)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def resolution(self) -> tuple[int, int]:
        """``(width, height)``, px."""
        height, width = self.valid.shape
        return width, height

    @property
    def duration_s(self) -> float:
        """Length of the window, s."""
        return (self.t_end - self.t_start) / 1e6

    @property
    def displacement_px(self) -> Singles:
        """Displacement over the window, shape (h, w, 2), px; NaN where it is not known."""
        return (self.velocity * np.float64(self.duration_s)).astype(np.float32)

    def at(self, x: ArrayLike, y: ArrayLike) -> Singles:
        """Return the velocity at positions, px: that of the nearest pixel, shape (n, 2), px/s.

        NaN where it is not known, and outside of the sensor.
        """
        column, row = np.rint(np.asarray(x, np.float64)), np.rint(np.asarray(y, np.float64))
        if column.shape != row.shape or column.ndim != 1:
            raise EventDataError(
                f"`x` and `y` must have one length; got shapes {column.shape}, {row.shape}."
            )
        width, height = self.resolution
        inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
        found = np.full((column.size, 2), np.nan, np.float32)
        places = row[inside].astype(np.intp), column[inside].astype(np.intp)
        found[inside] = self.velocity[places]
        return found

    def __repr__(self) -> str:
        width, height = self.resolution
        known = self.velocity[self.valid].astype(np.float64)
        speed = f", mean speed={np.hypot(*known.T).mean():.4g} px/s" if len(known) else ""
        return (
            f"Flow(resolution={width}x{height}, t={self.t_start}..{self.t_end} us, "
            f"valid={len(known):,} of {self.valid.size:,}{speed})"
        )
