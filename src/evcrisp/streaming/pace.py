"""Choose how much of a method runs on a window, so that labels come in time."""

from enum import Enum

#: Time from the end of a window to its labels that is aimed at, s: 15 ms, less what sinks take.
SLACK_S = 0.012

#: Events that take as long as what does not depend on their number.
_BASE_EVENTS = 10_000

#: Events of a usual window.
USUAL_EVENTS = 20_000


class Effort(Enum):
    """How much of a method runs on a window; the value says what its labels rest on."""

    FULL = "the method as given"
    REUSED = "motions of an earlier window"


class Pace:
    """Decides from the cost of the searches so far whether there is time for another one.

    >>> pace = Pace()
    >>> pace.note(0.005, n_events=20_000)
    >>> pace.has_time(lag_s=0.001, n_events=20_000), pace.has_time(lag_s=0.010, n_events=20_000)
    (True, False)
    """

    def __init__(self) -> None:
        self._cost_s = 0.0  # per base of events

    def has_time(self, lag_s: float, n_events: int) -> bool:
        """Return whether a search would end in time; the last event came ``lag_s`` ago."""
        return lag_s + self._cost_s * _load(n_events) <= SLACK_S

    def note(self, cost_s: float, n_events: int) -> None:
        """Note what a search has cost; the prediction rises at once, and falls by halves."""
        cost_s /= _load(n_events)
        self._cost_s = max(cost_s, 0.5 * (self._cost_s + cost_s))


def _load(n_events: int) -> float:
    return 1.0 + n_events / _BASE_EVENTS
