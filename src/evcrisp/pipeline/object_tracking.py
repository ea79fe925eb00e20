"""Follow the moving objects of a recording from window to window."""

from dataclasses import replace

from evcrisp.core.validation import check_number
from evcrisp.estimators.layer import Layer
from evcrisp.estimators.layers.identities import Identities
from evcrisp.estimators.result import MIN_OBJECT_EVENTS, Estimate


class ObjectTracker:
    """Gives the objects of consecutive estimates numbers that stay.

    An object continues one of the windows before if their boxes overlap after it is moved by its
    velocity, and both have a similar velocity. Objects that are hidden for up to 0.2 s keep their
    number.

    Parameters
    ----------
    min_events : int
        Least number of events of an object in a window.

    Examples
    --------
    >>> import evcrisp
    >>> from evcrisp.simulation import ObjectConfig
    >>> thing = ObjectConfig(motion="translation", theta=(300.0, 0.0), center=(0.3, 0.5))
    >>> scene = evcrisp.simulate(theta=(0.0, 0.0), objects=(thing,), duration_us=90_000, seed=1)
    >>> tracker = ObjectTracker()
    >>> [[thing.id for thing in tracker.update(result)] for result in evcrisp.track(scene.events)]
    [[0], [0], [0]]
    """

    def __init__(self, min_events: int = MIN_OBJECT_EVENTS) -> None:
        check_number("min_events", min_events, 1, whole=True)
        self.min_events = int(min_events)
        self._identities = Identities()

    def update(self, result: Estimate) -> tuple[Layer, ...]:
        """Return the objects of the next window, with their numbers in ``id``."""
        if not result.status.has_motion:
            return ()
        found = result.objects(self.min_events)
        numbers = self._identities.assign(found, result.window.t_ref)
        return tuple(
            replace(thing, id=number) for thing, number in zip(found, numbers, strict=True)
        )
