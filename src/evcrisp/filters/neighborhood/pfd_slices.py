"""Polarity-focused denoising in slices of time, which looks ahead to the end of a slice."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.core.events import Events
from evcrisp.core.validation import check_number
from evcrisp.filters.protocol import (
    About,
    Filter,
    HeldEvents,
    Labels,
    Presets,
    check_minimum,
    check_sensor,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PfdSlices(Filter):
    """Keep an event if its neighbors changed polarity as often as its pixel in a slice of time.

    The rule of :class:`Pfd`, but neighbors are active, and changes count, if they are in the same
    slice, before or after the event. A slice ends with the first event that is at least
    ``window_us`` later than its start, and the next one starts at that time. The score is that of
    :class:`Pfd`, with n / (n + min_active) for n active neighbors.

    Parameters
    ----------
    window_us : int
        Minimum duration of a slice, us.
    published : bool
        Drop the first event and the last slice, and do not count events at the time of the first
        one as neighbors, like the program of the authors.
    tau_us, k, min_active, max_changes, flicker
        As in :class:`Pfd`.

    References
    ----------
    Shi et al., "Polarity-focused denoising for event cameras", IEEE T-CSVT, 2025.
    """

    name: ClassVar[str] = "pfdslices"
    about: ClassVar[About] = About(
        "Shi et al. 2025", "16 pixels, twice", "2 times and 2 numbers per pixel, the events of a slice",
        "The score is a choice of evcrisp.", compared=("pfd",))  # fmt: skip
    presets: ClassVar[Presets] = {"pfd": {"tau_us": 24_999, "published": True}}
    is_causal: ClassVar[bool] = False

    tau_us: int = 25_000
    k: int = 1
    window_us: int = 25_000
    min_active: int = 4
    max_changes: float = 1.0
    flicker: bool = False
    published: bool = False

    def __post_init__(self) -> None:
        check_minimum(self, tau_us=1, window_us=1)
        check_number("k", self.k, 1, 8)
        check_number("min_active", self.min_active, 1, 8)
        check_number("max_changes", self.max_changes, 0, open_low=True)

    def start(self, resolution: tuple[int, int]) -> "PfdSlicesStream":
        """Start a recording."""
        return PfdSlicesStream(self, resolution)


class PfdSlicesStream:
    """State of the filter: last events per pixel and polarity, and the events of the open slice."""

    def __init__(self, config: PfdSlices, resolution: tuple[int, int]) -> None:
        from evcrisp.kernels.filters.neighborhood.pfd import UNSEEN
        from evcrisp.kernels.filters.neighborhood.recent_neighbors import NEVER_FLOAT

        self._config, self._resolution = config, resolution
        self._stride = resolution[0] + 2
        n = self._stride * (resolution[1] + 2)
        self._same = np.full(2 * n, NEVER_FLOAT)
        self._slice = (np.full(n, UNSEEN, np.uint8), np.zeros(n, np.int64))  # polarity and changes
        self._origin: int | None = None  # us, time of the first event
        self._start = 0  # us, start of the open slice
        self._held = HeldEvents(x=np.uint16, y=np.uint16, by_same=np.float64)

    def label(self, events: Events) -> Labels:
        """Process the next chunk; label the slices that end in it."""
        events = check_sensor(events, self._resolution)
        if not len(events):
            return Labels.empty(0)
        if self._origin is None:
            self._origin = self._start = int(events.t[0])
            if self._config.published:
                self._held.append(1, x=events.x[:1], y=events.y[:1], by_same=0)
                events = events[1:]
        ready: list[Labels] = []
        while True:
            last = int(np.searchsorted(events.t, self._start + self._config.window_us))
            self._count(events[: last + 1])
            if last >= len(events):
                return Labels.concatenate(ready)
            ready.append(self._close())
            self._start = int(events.t[last])
            events = events[last + 1 :]

    def finish(self) -> Labels:
        """Label the last slice."""
        labels = self._close()
        if self._config.published:
            score = np.where(labels.signal, labels.score - 0.5, labels.score)
            return Labels(np.zeros(len(labels), np.bool_), score)
        return labels

    def _count(self, events: Events) -> None:
        """Add events to the open slice."""
        from evcrisp.kernels.filters.neighborhood.pfd_slices import count_changes

        config = self._config
        by_same = np.empty(len(events))
        rule = (config.k, config.tau_us, self._origin, self._stride, config.published)
        columns = (events.x, events.y, events.t, events.p.view(np.uint8))
        count_changes(*columns, self._same, *self._slice, rule, by_same)
        self._held.append(len(events), x=events.x, y=events.y, by_same=by_same)

    def _close(self) -> Labels:
        """Label the events of the open slice and start a new one."""
        from evcrisp.kernels.filters.neighborhood.pfd_slices import label_slice

        config = self._config
        held = self._held.take(len(self._held))
        labels = Labels.empty(held["x"].size)
        rule = (config.min_active, float(config.max_changes), config.flicker, self._stride)
        columns = (held["x"], held["y"], held["by_same"])
        label_slice(*columns, *self._slice, rule, labels.signal, labels.score)
        return labels
