"""Random control: delete events at random, to compare with a denoiser."""

import operator
from collections.abc import Iterable, Iterator

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.metrics.chunks import chunks_of


def random_subset(events: Events, n_kept: int, *, seed: int = 0) -> Events:
    """Return a random subset of given size, in order; all subsets are equally likely.

    The subset has ``n_kept`` events, 0 to ``len(events)``; equal seeds give equal subsets.

    >>> events = Events(x=[0] * 9, y=[0] * 9, t=range(9), p=[1] * 9, resolution=(1, 1))
    >>> len(random_subset(events, 4))
    4
    """
    return Events.concatenate(random_chunks(events, n_kept, n_total=len(events), seed=seed))


def random_chunks(
    source: Events | Iterable[Events], n_kept: int, *, n_total: int, seed: int = 0
) -> Iterator[Events]:
    """Yield a random subset of a stream, chunk by chunk; cuts have no effect.

    Parameters
    ----------
    source : Events or iterable of Events
        Read once.
    n_kept, n_total, seed : int
        Sizes of the subset and of the stream; equal seeds give equal subsets.

    Raises
    ------
    ConfigError
        If the stream has more or fewer than ``n_total`` events; earlier chunks are then wrong.
    """
    n_kept, n_total = operator.index(n_kept), operator.index(n_total)
    if not 0 <= n_kept <= n_total:
        raise ConfigError(f"must lie in 0..{n_total}", parameter="n_kept", value=n_kept)
    return _draw(chunks_of(source), n_kept, n_total, seed)


def _draw(chunks: Iterable[Events], n_wanted: int, n_total: int, seed: int) -> Iterator[Events]:
    from evcrisp.kernels.metrics.control import draw

    rng, n_left = np.random.default_rng(seed), n_total
    for chunk in chunks:
        if len(chunk) > n_left:
            raise _wrong_total(n_total, f"{n_total - n_left + len(chunk)} or more")
        chosen = np.empty(len(chunk), np.bool_)
        n_wanted = draw(rng.random(len(chunk)), n_left, n_wanted, chosen)
        n_left -= len(chunk)
        yield chunk[chosen]
    if n_left:
        raise _wrong_total(n_total, str(n_total - n_left))


def _wrong_total(n_total: int, n_events: str) -> ConfigError:
    return ConfigError(
        f"`n_total` must be the number of events of the stream, which has {n_events}; got {n_total}. "
        "Count them in an earlier pass."
    )
