"""Label the events of a recording with a denoiser by name."""

from collections.abc import Iterable, Iterator, Mapping

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.core.registry import build, lookup
from evcrisp.filters.protocol import Denoiser, Labels
from evcrisp.filters.registry import FILTERS


def denoiser(
    name: str, preset: str | None = None, params: Mapping[str, object] | None = None
) -> Denoiser:
    """Build a denoiser: its defaults, then a preset, then parameters.

    >>> denoiser("baf", params={"tau_us": 2000}).tau_us
    2000
    """
    kind = lookup(FILTERS, name, "denoiser")
    chosen: Mapping[str, object] = {}
    if preset is not None:
        if preset not in kind.presets:
            raise ConfigError(
                f"The denoiser {name!r} has no preset {preset!r}. "
                f"Known: {', '.join(sorted(kind.presets)) or 'none'}."
            )
        chosen = kind.presets[preset]
    return build(FILTERS, name, "filter", **{**chosen, **(params or {})})


def denoise(
    events: Events, name: str = "baf", preset: str | None = None, **params: object
) -> Labels:
    """Label each event as signal or noise.

    Parameters
    ----------
    events : Events
        One recording, or its beginning.
    name : str
        Denoiser; one of the keys of ``evcrisp.filters.FILTERS``.
    preset : str, optional
        Parameters that reproduce another implementation, such as "emlb"; ``presets`` of the
        denoiser has them.
    **params
        Parameters of the denoiser, such as ``tau_us``; they win over the preset.

    Returns
    -------
    Labels
        ``signal`` (True = keep) and ``score`` (larger = more likely signal) per event.

    Examples
    --------
    Two events side by side support the later one; the third is alone.

    >>> events = Events(x=[3, 4, 7], y=[1, 1, 3], t=[0, 10, 25], p=[1, 1, 1], resolution=(8, 4))
    >>> denoise(events, "baf", tau_us=1000).signal
    array([False,  True, False])
    """
    stream = denoiser(name, preset, params).start(events.resolution)
    return Labels.joined([stream.label(events), stream.finish()])


def denoise_chunks(chunks: Iterable[Events], config: Denoiser) -> Iterator[tuple[Events, Labels]]:
    """Label a stream of events; yield them with their labels, in order, as labels become ready.

    The cuts need not be those of the input: a denoiser that looks ahead holds some events back.
    Memory is bounded by what it holds.

    >>> events = Events(x=[3, 4, 7], y=[1, 1, 3], t=[0, 10, 25], p=[1, 1, 1], resolution=(8, 4))
    >>> chunks = [events[:1], events[1:]]
    >>> [len(part[labels.signal]) for part, labels in denoise_chunks(chunks, denoiser("baf"))]
    [0, 1]
    """
    stream = None
    pending: list[Events] = []
    for chunk in chunks:
        stream = config.start(chunk.resolution) if stream is None else stream
        labels = stream.label(chunk)
        pending.append(chunk)
        if len(labels) or not len(chunk):
            yield _ready(pending, len(labels)), labels
    if stream is not None:
        labels = stream.finish()
        if len(labels):
            yield _ready(pending, len(labels)), labels


def _ready(pending: list[Events], n: int) -> Events:
    """Take the first n events off the list of pending ones."""
    events = Events.concatenate(pending)
    pending[:] = [events[n:]] if n < len(events) else []
    return events[:n]
