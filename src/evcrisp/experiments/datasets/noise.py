"""Add labeled noise to clean recordings."""

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import EventDataError
from evcrisp.core.events import Events
from evcrisp.core.messages import counted
from evcrisp.core.types import Bools
from evcrisp.core.validation import check_number


def with_uniform_noise(events: Events, share: float, *, seed: int = 0) -> Events:
    """Add noise that is uniform in space, time and polarity, and label all events.

    Parameters
    ----------
    events : Events
        Regarded as signal.
    share, seed : float, int
        Noise events per signal event, 0.05 = 5 %; equal seeds give equal events.

    Examples
    --------
    >>> clean = Events(x=[0] * 40, y=[0] * 40, t=range(40), p=[1] * 40, resolution=(8, 4))
    >>> noisy = with_uniform_noise(clean, 0.1)
    >>> len(noisy), int(noisy.signal.sum())
    (44, 40)
    """
    n = _count(events, share)
    rng = np.random.default_rng(seed)
    first, last = (int(events.t[0]), int(events.t[-1])) if len(events) else (0, 0)
    spans = ((0, events.width), (0, events.height), (first, last + 1), (0, 2))
    x, y, t, p = (rng.integers(low, high, n) for low, high in spans)
    return _joined(events, x, y, t, p.astype(np.bool_))


def with_recorded_noise(events: Events, noise: Events, share: float, *, seed: int = 0) -> Events:
    """Add consecutive recorded noise, scaled to the duration of the signal, and label all events.

    The noise events start at a random index. Their positions, polarities and clustering are real,
    and their rate is set by ``share``.

    Parameters
    ----------
    events, noise : Events
        Of one sensor; ``noise`` must hold enough events.
    share, seed : float, int
        Noise events per signal event; equal seeds give equal events.
    """
    n = _count(events, share)
    if noise.resolution != events.resolution:
        raise EventDataError(
            f"Signal and noise must be of one sensor; got {events.resolution} and "
            f"{noise.resolution} px."
        )
    if n > len(noise):
        raise EventDataError(
            f"A share of {share:g} needs {counted(n, 'noise event')}; the noise recording has {len(noise):,}."
        )
    start = int(np.random.default_rng(seed).integers(0, len(noise) - n + 1))
    run = noise[start : start + n]
    return _joined(events, run.x, run.y, _scaled(run.t, events), run.p)


def _count(events: Events, share: float) -> int:
    check_number("share", share, 0, 100)
    return round(share * len(events))


def _scaled(t: NDArray[np.int64], events: Events) -> NDArray[np.int64]:
    if t.size < 2 or t[-1] == t[0]:
        return np.full(t.size, events.t[0] if len(events) else 0, np.int64)
    fraction = (t - t[0]) / float(t[-1] - t[0])
    return events.t[0] + np.rint(fraction * events.duration_us).astype(np.int64)


def _joined(
    events: Events, x: NDArray[np.integer], y: NDArray[np.integer], t: NDArray[np.integer], p: Bools
) -> Events:
    return Events.sorted_from(
        x=np.concatenate((events.x, x.astype(np.uint16))),
        y=np.concatenate((events.y, y.astype(np.uint16))),
        t=np.concatenate((events.t, t.astype(np.int64))),
        p=np.concatenate((events.p, p)),
        resolution=events.resolution,
        signal=np.arange(len(events) + x.size) < len(events),
    )
