"""Cut a recording into windows: as the events choose, by time, by count, or by displacement."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.core.validation import check_number
from evcrisp.core.windows import (
    OpenSpan,
    Window,
    by_count,
    by_time,
    end_at_last_event,
    ordered_chunks,
    skip_long_pause,
)
from evcrisp.pipeline.auto_windows import LEAST_US, auto_windows

#: Longest window by default, us: in it, an image of 10 px/s moves by 5 px.
DEFAULT_LATENCY_US = 500_000

#: Length of windows that follow the motion, us: the first, and bounds.
_FIRST_WINDOW_US, _MIN_WINDOW_US, _MAX_WINDOW_US = 30_000, 2_000, 100_000


class CutWindow(NamedTuple):
    """A window, and the length that it would have if the recording did not end."""

    window: Window
    full_us: int  # us; 0 if unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Windowing:
    """How a recording is cut into windows; at most one of the first three is given.

    By default the events choose the length: a window ends when the image has moved, where the rate of
    its events changes, or after ``max_latency_us``. See :mod:`evcrisp.pipeline.auto_windows`.

    Parameters
    ----------
    window_us : int, optional, us
        Length of a window; the last one ends with the recording.
    window_events : int, optional
        Number of events per window.
    displacement_px : float, optional, px
        Displacement of the image per window, by the motion before; lengths are 2 to 100 ms.
    overlap : float
        Share of a window that the next one contains again, 0 to 0.9. Events in several windows
        change their label if the mean of their confidences is 0.1 beyond 0.5.
    max_latency_us : int, optional, us
        Bound on the length of windows that the events choose. Default: 500 ms.

    Examples
    --------
    >>> import evcrisp
    >>> speeds = {"slow": 30, "fast": 600}  # px/s
    >>> for name, vx in speeds.items():
    ...     scene = evcrisp.simulate(theta=(vx, 0), duration_us=400_000, noise_hz=3.0, seed=1)
    ...     first, *_ = evcrisp.track(scene.events, windowing=Windowing())
    ...     print(name, first.window.t_end // 1000, "ms")
    slow 256 ms
    fast 16 ms
    """

    window_us: int | None = None
    window_events: int | None = None
    displacement_px: float | None = None
    overlap: float = 0.0
    max_latency_us: int | None = None

    def __post_init__(self) -> None:
        sizes = ("window_us", "window_events", "displacement_px", "max_latency_us")
        given = [name for name in sizes if getattr(self, name) is not None]
        if len(given) > 1:
            raise ConfigError("exclude each other", parameter=tuple(given))
        for name in given:
            value = getattr(self, name)
            check_number(name, value, 0, open_low=True)
            if name != "displacement_px":
                least = LEAST_US if name == "max_latency_us" else 1
                check_number(name, int(value) if value == int(value) else value, least, whole=True)
                object.__setattr__(self, name, int(value))
        check_number("overlap", self.overlap, 0, 0.9)
        if self.displacement_px is not None and self.overlap:
            raise ConfigError("is not for windows by displacement", parameter="overlap")

    @property
    def is_auto(self) -> bool:
        """Whether the events choose the length of windows."""
        sizes = self.window_us, self.window_events, self.displacement_px
        return all(size is None for size in sizes)

    @property
    def step_us(self) -> int | None:
        """Time between the starts of windows, us, if it is fixed."""
        length = self.window_us
        return None if length is None else max(1, round(length * (1.0 - self.overlap)))

    @property
    def step_events(self) -> int | None:
        """Number of events between the starts of windows, if it is fixed."""
        n = self.window_events
        return None if n is None else max(1, round(n * (1.0 - self.overlap)))

    def facts(self) -> dict[str, Any]:
        """Return the settings that are in effect.

        >>> Windowing().facts()
        {'window': 'auto', 'max_latency_us': 500000, 'overlap': 0.0}
        >>> Windowing(displacement_px=6.0).facts()
        {'displacement_px': 6.0}
        """
        if self.displacement_px is not None:
            return {"displacement_px": float(self.displacement_px)}
        if self.window_events is not None:
            return {"window_events": self.window_events, "overlap": float(self.overlap)}
        if self.window_us is not None:
            return {"window_us": self.window_us, "overlap": float(self.overlap)}
        latency = self.max_latency_us or DEFAULT_LATENCY_US
        return {"window": "auto", "max_latency_us": latency, "overlap": float(self.overlap)}

    @property
    def longest_us(self) -> int:
        """Longest window, us; of windows by count, the time after which a live one ends."""
        if self.displacement_px is not None:
            return _MAX_WINDOW_US
        return self.window_us or self.max_latency_us or DEFAULT_LATENCY_US

    def cut(
        self,
        chunks: Iterable[Events],
        speed_px_s: Callable[[], float | None],
        span: OpenSpan | None = None,
        *,
        joins_rest: bool = True,
    ) -> Iterator[CutWindow]:
        """Yield the windows of a stream.

        ``joins_rest`` joins a short rest of the stream to the last window. Chosen windows are yielded
        later then: when the events after them are known.

        ``speed_px_s`` returns the speed of the image after the last window, or None. It is called
        between windows that follow the motion. Windows of a fixed length fill the ``span`` of a piece.
        """
        if self.displacement_px is not None:
            yield from _by_displacement(ordered_chunks(chunks), self.displacement_px, speed_px_s)
            return
        if self.is_auto:
            latency = self.max_latency_us or DEFAULT_LATENCY_US
            for window, full_us in auto_windows(
                ordered_chunks(chunks), latency, self.overlap, joins_rest=joins_rest
            ):
                yield CutWindow(window, full_us)
            return
        length = self.window_us or 0
        if self.window_events is not None:
            windows = by_count(chunks, self.window_events, step=self.step_events)
        else:
            windows = by_time(chunks, length, step_us=self.step_us, span=span)
        for window in windows:
            yield CutWindow(window, length)


def checked_windowing(windowing: Windowing | None) -> Windowing:
    """Return a windowing, by default that which the events choose; raise if it is something else."""
    if windowing is None:
        return Windowing()
    if not isinstance(windowing, Windowing):
        raise ConfigError(
            "must be a Windowing, such as `Windowing(window_us=30_000)`",
            parameter="windowing",
            value=windowing,
        )
    return windowing


def _by_displacement(
    chunks: Iterator[Events], displacement_px: float, speed_px_s: Callable[[], float | None]
) -> Iterator[CutWindow]:
    """Cut each window so long that the image moves by a distance at the last speed."""
    rest = next(chunks, None)
    if rest is None:
        return
    length, t_start, index = _FIRST_WINDOW_US, int(rest.t[0]), 0
    ended = False
    while not ended or len(rest):
        while not ended and (not len(rest) or rest.t[-1] < t_start + length):
            chunk = next(chunks, None)
            ended = chunk is None
            if chunk is not None:
                rest = Events.concatenate((rest, chunk))
                t_start = skip_long_pause(rest, t_start, length, length)
        if not len(rest):
            return
        inside = rest.between(t_start, t_start + length)
        window = Window(inside, t_start, t_start + length, index)
        yield CutWindow(end_at_last_event(window, int(rest.t[-1])) if ended else window, length)
        t_start += length
        index += len(inside)
        rest = rest[len(inside) :]
        length = _length_us(displacement_px, speed_px_s())
        if len(rest):
            t_start = skip_long_pause(rest, t_start, length, length)


def _length_us(displacement_px: float, speed_px_s: float | None) -> int:
    """Return the time in which the image moves by a distance, within bounds."""
    if speed_px_s is None:
        return _FIRST_WINDOW_US
    if not np.isfinite(speed_px_s) or speed_px_s <= 0.0:
        return _MAX_WINDOW_US
    return int(np.clip(1e6 * displacement_px / speed_px_s, _MIN_WINDOW_US, _MAX_WINDOW_US))
