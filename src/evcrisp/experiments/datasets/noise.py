"""Noise with labels, added to recordings that hold none."""

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError, EventDataError
from evcrisp.core.events import Events
from evcrisp.core.messages import counted


def with_uniform_noise(events: Events, share: float, *, seed: int = 0) -> Events:
    """Add events that are even in space, time and polarity, and label all.

    Parameters
    ----------
    events : Events
        Taken to be signal.
    share : float
        Noise events per signal event; 0.05 = 5 %.
    seed : int
        Same seed, same events.

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
    return _joined(
        events,
        rng.integers(0, events.width, n),
        rng.integers(0, events.height, n),
        rng.integers(first, last + 1, n),
        rng.integers(0, 2, n).astype(np.bool_),
    )


def with_recorded_noise(events: Events, noise: Events, share: float, *, seed: int = 0) -> Events:
    """Add a run of recorded noise, stretched over the time of the signal, and label all.

    A run of consecutive noise events begins at random; its time is scaled to that of the signal. So
    its places, polarities and bunching are real, and its rate is the one that was asked for.

    Parameters
    ----------
    events, noise : Events
        Of one sensor; ``noise`` must hold enough events.
    share : float
        Noise events per signal event.
    seed : int
        Same seed, same events.
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
    return _joined(events, run.x, run.y, _stretched(run.t, events), run.p)


def _count(events: Events, share: float) -> int:
    if not 0.0 <= share <= 100.0:
        raise ConfigError(f"`share` must lie in 0..100 noise events per signal event; got {share}.")
    return round(share * len(events))


def _stretched(t: NDArray[np.int64], events: Events) -> NDArray[np.int64]:
    if t.size < 2 or t[-1] == t[0]:
        return np.full(t.size, events.t[0] if len(events) else 0, np.int64)
    place = (t - t[0]) / float(t[-1] - t[0])
    return events.t[0] + np.rint(place * events.duration_us).astype(np.int64)


def _joined(
    events: Events,
    x: NDArray[np.integer],
    y: NDArray[np.integer],
    t: NDArray[np.integer],
    p: NDArray[np.bool_],
) -> Events:
    return Events.sorted_from(
        x=np.concatenate((events.x, x.astype(np.uint16))),
        y=np.concatenate((events.y, y.astype(np.uint16))),
        t=np.concatenate((events.t, t.astype(np.int64))),
        p=np.concatenate((events.p, p)),
        resolution=events.resolution,
        signal=np.arange(len(events) + x.size) < len(events),
    )
