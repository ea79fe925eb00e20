"""Estimate the windows of a recording piece by piece; each piece starts with a warm-up."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from evcrisp.core.events import Events
from evcrisp.core.windows import Window
from evcrisp.estimators.devices import device_method
from evcrisp.estimators.protocol import Estimator
from evcrisp.estimators.result import Estimate
from evcrisp.motion import MotionModel
from evcrisp.pipeline.on_device.device_tracking import DeviceTracker, device_tracker
from evcrisp.pipeline.pieces.plan import SIZES, Piece, PieceSizes
from evcrisp.pipeline.pieces.streaming import StreamedPiece
from evcrisp.pipeline.tracking import Tracker
from evcrisp.pipeline.windowing import Windowing


@dataclass(frozen=True, slots=True)
class PieceMethod:
    """How the pieces of a recording are estimated."""

    estimator: Estimator
    model: MotionModel
    resolution: tuple[int, int]
    windowing: Windowing
    sizes: PieceSizes = SIZES
    device: str | None = None
    deterministic: bool = False

    def estimates(self, part: StreamedPiece) -> Iterator[Estimate]:
        """Yield the estimates of a piece; windows count events from the first estimated one on."""
        tracker = self._tracker()
        n_warm = self._warm_up(tracker, part.warm)
        windows = self.windowing.cut(part.chunks, tracker.speed_px_s, _Span(part))
        moved = ((_moved(window, n_warm), full_us) for window, full_us in windows)
        # The end of a stream is known after its last window.
        yield from tracker.estimates(moved, lambda: "recording" if part.t_end is None else "piece")

    def _tracker(self) -> Tracker | DeviceTracker:
        """Return the state before a piece."""
        on_device = device_method(
            self.estimator, self.model, self.device, deterministic=self.deterministic
        )
        if on_device is None:
            return Tracker(self.estimator, self.model, self.resolution, with_map=False)
        return device_tracker(on_device, self.resolution, self.windowing)

    def _warm_up(self, tracker: Tracker | DeviceTracker, warm: Events | None) -> int:
        """Count hot pixels, then estimate the last windows before a piece; return their number of events."""
        if warm is None or not len(warm):
            return 0
        n_early = max(len(warm) - self.sizes.estimated, 0)
        if n_early:
            tracker.count_hot_pixels(warm[:n_early])
        late = warm[n_early:]
        windows = self.windowing.cut(iter((late,)), tracker.speed_px_s)
        for _ in tracker.estimates((window, 0) for window, _ in windows):
            pass
        return len(late)


@dataclass(frozen=True, slots=True)
class _Span:
    """Times of a piece for its windows."""

    part: StreamedPiece

    @property
    def t_start(self) -> int | None:
        return self.part.piece.t_start

    @property
    def t_end(self) -> int | None:
        return self.part.t_end


def _moved(window: Window, n_before: int) -> Window:
    return replace(window, index=window.index + n_before) if n_before else window


def events_of_piece(chunks: Iterator[Events], piece: Piece) -> StreamedPiece:
    """Return a piece of a stream that starts with its warm-up."""
    if piece.t_start is None:
        return StreamedPiece(piece, None, chunks)
    warm: list[Events] = []
    first: list[Events] = []
    for chunk in chunks:
        warm.append(chunk.between(-(1 << 63), piece.t_start))
        if len(warm[-1]) < len(chunk):
            first.append(chunk[len(warm[-1]) :])
            break

    def rest() -> Iterator[Events]:
        yield from first
        yield from chunks

    return StreamedPiece(piece, Events.concatenate(warm) if warm else None, rest())
