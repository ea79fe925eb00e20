"""Clean a stream of packets with an estimator, window by window, or with a filter."""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.core.registry import build, lookup
from evcrisp.core.windows import Window
from evcrisp.estimators.estimate import model_for
from evcrisp.estimators.protocol import Estimator
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.estimators.result import Estimate
from evcrisp.filters import FILTERS, Filter, build_filter, denoise_chunks
from evcrisp.motion import MOTION_MODELS, MotionModel
from evcrisp.pipeline.auto_windows import auto_windows
from evcrisp.pipeline.tracking import Tracker
from evcrisp.pipeline.windowing import Windowing
from evcrisp.streaming.background_search import BackgroundSearch
from evcrisp.streaming.pace import SLACK_S, USUAL_EVENTS, Effort, Pace
from evcrisp.streaming.packet_stream import PacketStream
from evcrisp.streaming.warm_up_events import WARM_UP_US, warm_up_scenes

Method = str | Estimator | Filter


@dataclass(frozen=True, slots=True, eq=False)
class LivePart:
    """Events with final labels: those of a window, or of a packet if the method is a filter."""

    events: Events
    kept: Events
    estimate: Estimate | None = None  # None for filters
    effort: Effort = Effort.FULL
    #: Estimate whose search has ended since the part before: of this window, or of an earlier one.
    searched: Estimate | None = None


class Cleaning(Protocol):
    """A method for live events."""

    name: str
    n_by_effort: Counter[Effort]  # windows

    def warm_up(self) -> None:
        """Run once on events that are made up, so that kernels are compiled before the first event."""
        ...

    def parts(
        self, packets: PacketStream, resolution: tuple[int, int], *, in_time: bool, speed: float
    ) -> Iterator[LivePart]:
        """Yield packets or windows with their labels; ``in_time`` if the source does not wait."""
        ...

    def prepare(self) -> None:
        """Start what a session in time needs."""
        ...

    def close(self) -> None:
        """End what was started."""
        ...


def cleaning_by(
    method: Method,
    motion: str | MotionModel = "auto",
    camera: Camera | None = None,
    windowing: Windowing | None = None,
    *,
    full_search: bool = False,
    **params: Any,
) -> Cleaning:
    """Return the cleaning by a filter, or by an estimator."""
    if isinstance(method, str):
        lookup(dict.fromkeys((*ESTIMATORS, *FILTERS)), method, "method or filter")
    if is_filter(method):
        return FilterCleaning(build_filter(cast("str | Filter", method), **params))
    windowing = Windowing() if windowing is None else windowing
    if windowing.overlap:
        raise ConfigError("must be 0 for live events", parameter="overlap", value=windowing.overlap)
    estimator = build(ESTIMATORS, cast("str | Estimator", method), "method", **params)
    return WindowCleaning(estimator, motion, camera, windowing, full_search=full_search)


def is_filter(method: Method) -> bool:
    """Return whether a method labels event by event; estimators come first.

    >>> is_filter("baf"), is_filter("auto")
    (True, False)
    """
    if isinstance(method, str):
        return method in FILTERS and method not in ESTIMATORS
    return hasattr(method, "start")


class FilterCleaning:
    """Labels each packet when it comes."""

    def __init__(self, config: Filter) -> None:
        self.name = config.name
        self.n_by_effort: Counter[Effort] = Counter()
        self._config = config

    def warm_up(self) -> None:
        """Label a few events."""
        for events in warm_up_scenes():
            for _ in denoise_chunks(iter((events,)), self._config):
                pass

    def parts(
        self, packets: PacketStream, resolution: tuple[int, int], *, in_time: bool, speed: float
    ) -> Iterator[LivePart]:
        """Yield every packet; a filter that looks ahead holds events back."""
        for events, labels in denoise_chunks(iter(packets), self._config):
            yield LivePart(events, labels.kept(events))

    def prepare(self) -> None:
        """Start nothing."""

    def close(self) -> None:
        """End nothing."""


class WindowCleaning:
    """Labels windows when they end: by their events, or by the wall clock while none come.

    If a search takes longer than there is time, it runs in another process, on as many windows as it
    can. All windows then get labels by the motions that were found last.
    """

    def __init__(
        self,
        estimator: Estimator,
        motion: str | MotionModel,
        camera: Camera | None,
        windowing: Windowing,
        *,
        full_search: bool = False,
    ) -> None:
        self.name = estimator.name
        self.n_by_effort: Counter[Effort] = Counter()
        self._estimator, self._windowing = estimator, windowing
        self._motion, self._camera = motion, camera
        self._pace = Pace()
        method = estimator, motion, camera, windowing
        self._beside = None if full_search else BackgroundSearch(method, self._pace)

    def warm_up(self) -> None:
        """Run every effort on several scenes, twice; the second time tells what they cost."""
        scenes = list(warm_up_scenes())
        for _ in auto_windows(iter(scenes[:1]), WARM_UP_US):
            pass
        n_most = max(len(events) for events in scenes)
        for is_timed in (False, True):
            tracker = self.tracker(scenes[0].resolution, is_checked=False)
            for k, events in enumerate(scenes):
                t_start = k * WARM_UP_US
                shifted = Events.trusted(
                    events.x, events.y, events.t + t_start, events.p, events.resolution
                )
                window = Window(shifted, t_start, t_start + WARM_UP_US, k * n_most)
                start = time.monotonic()
                tracker.estimate(window)
                if is_timed:
                    self._pace.note(time.monotonic() - start, len(events))
                for by_one_motion in (False, True):
                    tracker.relabel(window, by_one_motion=by_one_motion)

    def parts(
        self, packets: PacketStream, resolution: tuple[int, int], *, in_time: bool, speed: float
    ) -> Iterator[LivePart]:
        """Yield every window; those for which there is no time have less effort."""
        tracker = self.tracker(resolution)
        longest_s = self._windowing.longest_us / 1e6 / speed if in_time else None
        n_before = 0
        while not packets.is_ended:
            n_inside = 0
            stream = packets.until_silence(longest_s)
            for window, full_us in self._windowing.cut(
                stream, tracker.speed_px_s, joins_rest=not in_time
            ):
                n_inside += len(window.events)
                packets.make_room(len(window.events))
                window = replace(window, index=n_before + window.index)
                if in_time and self._beside is not None:
                    part = self._label_in_time(tracker, window, packets.lag_s, self._beside)
                    yield part
                    if part.effort is Effort.REUSED:  # its labels are out
                        self._beside.offer(window, resolution)
                else:
                    result = tracker.estimate(window, 0 if in_time else full_us)
                    yield self._part(window, result, Effort.FULL, result)
            n_before += n_inside

    def prepare(self) -> None:
        """Start the search beside the labels, if windows of the usual size have no time for it."""
        if self._beside is not None and not self._pace.has_time(0.0, USUAL_EVENTS):
            self._beside.start(wait=True)

    def close(self) -> None:
        """End the search beside the labels."""
        if self._beside is not None:
            self._beside.close()

    def _label_in_time(
        self, tracker: Tracker, window: Window, lag_s: float, beside: BackgroundSearch
    ) -> LivePart:
        found = beside.found()
        if found is not None:
            tracker.remember(found)
        if self._pace.has_time(lag_s, len(window.events)):
            start = time.monotonic()
            result = tracker.estimate(window)
            self._pace.note(time.monotonic() - start, len(window.events))
            return self._part(window, result, Effort.FULL, result)
        result = tracker.relabel(window, by_one_motion=lag_s > SLACK_S)
        return self._part(window, result, Effort.REUSED, found)

    def _part(
        self, window: Window, result: Estimate, effort: Effort, searched: Estimate | None
    ) -> LivePart:
        self.n_by_effort[effort] += 1
        return LivePart(window.events, window.events[result.signal], result, effort, searched)

    def tracker(self, resolution: tuple[int, int], *, is_checked: bool = True) -> Tracker:
        """Return the state of a session; the camera is not that of scenes that are made up."""
        if not is_checked and isinstance(self._motion, str) and self._motion in MOTION_MODELS:
            kind = MOTION_MODELS[self._motion]
            model = kind.for_sensor(resolution, self._camera if kind.uses_rays else None)
        else:
            camera = self._camera if is_checked else None
            model = model_for(self._motion, resolution, camera, self._estimator)
        return Tracker(self._estimator, model, resolution)
