"""Find the longest pause of a recording."""

import numpy as np

from evcrisp.core.events import Events


class LongestPause:
    """The longest time between two events that follow each other, chunk by chunk.

    >>> pauses = LongestPause()
    >>> for t in ([0, 5], [90, 91]):
    ...     pauses.add(Events(x=[0, 0], y=[0, 0], t=t, p=[0, 0], resolution=(1, 1)))
    >>> pauses.t_start, pauses.duration_us
    (5, 85)
    """

    def __init__(self) -> None:
        self.t_start: int | None = None  # us; None for fewer than two events
        self.duration_us = 0
        self._t_last: int | None = None

    def add(self, chunk: Events) -> None:
        """Take the events of a chunk."""
        if not len(chunk):
            return
        t = chunk.t if self._t_last is None else np.concatenate(([self._t_last], chunk.t))
        self._t_last = int(t[-1])
        if len(t) > 1:
            steps = np.diff(t)
            k = int(steps.argmax())
            if self.t_start is None or steps[k] > self.duration_us:
                self.t_start, self.duration_us = int(t[k]), int(steps[k])
