"""Label the events of a recording with a filter."""

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from evcrisp.core.errors import ConfigError, EventDataError
from evcrisp.core.events import Events, check_events
from evcrisp.core.registry import build, lookup
from evcrisp.filters.protocol import Filter, Labels, presets
from evcrisp.filters.registry import FILTERS

#: A filter by name, as a class, or as an object.
Method = str | type[Filter] | Filter


def build_filter(
    method: Method, /, preset: str | None = None, device: str | None = None, **params: object
) -> Filter:
    """Build a filter from its defaults, a preset and parameters; later ones take precedence.

    Arguments are those of :func:`denoise`; a filter object is returned unchanged.

    >>> build_filter("baf", tau_us=2000).tau_us
    2000
    """
    if device is not None:
        return _build_on_device(method, preset, device, params)
    return _built(method, preset, params)


def _built(method: Method, preset: str | None, params: Mapping[str, object]) -> Filter:
    defaults: Mapping[str, object] = {}
    if preset is not None:
        kind = lookup(FILTERS, method, "filter") if isinstance(method, str) else method
        if not isinstance(kind, type):
            raise ConfigError("needs a name or a class", parameter="preset", value=preset)
        known = presets(cast("type[Filter]", kind))
        if preset not in known:
            raise ConfigError(
                f"The filter {kind.name!r} has no preset {preset!r}. "
                f"Known: {', '.join(sorted(known)) or 'none'}."
            )
        defaults = known[preset]
    return build(FILTERS, method, "filter", **{**defaults, **params})


def _build_on_device(
    method: Method, preset: str | None, device: str, params: Mapping[str, object]
) -> Filter:
    """Build a filter for a device; the network has a device of its own."""
    from evcrisp.filters.on_device.device_filter import on_device

    kind = lookup(FILTERS, method, "filter") if isinstance(method, str) else method
    if isinstance(kind, type) and "device" in getattr(kind, "__dataclass_fields__", ()):
        return _built(method, preset, {**params, "device": device})
    return on_device(_built(method, preset, params), device)


def denoise(
    events: Events,
    method: Method = "baf",
    preset: str | None = None,
    *,
    device: str | None = None,
    **params: object,
) -> Labels:
    """Label each event as signal or noise.

    The labels have ``signal`` (True = keep) and ``score`` (larger = more likely signal) per event.

    Parameters
    ----------
    events : Events
        A recording, or its beginning.
    method : str, type or Filter
        Filter: name in ``evcrisp.filters.FILTERS``, class, or object such as ``Stcf(k=3)``.
    preset : str, optional
        Parameters that reproduce another implementation, such as "emlb".
    device : str, optional
        "cpu" (default), "cuda" or "auto", for "baf", "stcf", "ynoise", "ebf", "activity" and "padala",
        whose labels are the same on all of them. "edncnn" takes it as its parameter.
    **params
        Parameters of the filter, such as ``tau_us``; they take precedence over the preset.

    Examples
    --------
    The second event has a recent neighbor; the third has none.

    >>> events = Events(x=[3, 4, 7], y=[1, 1, 3], t=[0, 10, 25], p=[1, 1, 1], resolution=(8, 4))
    >>> denoise(events, "baf", tau_us=1000).signal
    array([False,  True, False])
    """
    check_events("events", events)
    config = build_filter(method, preset, device, **params)
    stream = config.start(events.resolution)
    labels = Labels.concatenate([stream.label(events), stream.finish()])
    _check_count(config, len(labels), len(events))
    return labels


def denoise_chunks(
    chunks: Iterable[Events], method: Method = "baf"
) -> Iterator[tuple[Events, Labels]]:
    """Label a stream of events; yield events with their labels, in order, when they are final.

    The cuts can differ from those of the input, because a filter that looks ahead holds events.
    Memory is bounded by the held events.

    >>> events = Events(x=[3, 4, 7], y=[1, 1, 3], t=[0, 10, 25], p=[1, 1, 1], resolution=(8, 4))
    >>> chunks = [events[:1], events[1:]]
    >>> [len(part[labels.signal]) for part, labels in denoise_chunks(chunks, "baf")]
    [0, 1]
    """
    config = build_filter(method)
    stream = None
    pending: list[Events] = []
    for chunk in chunks:
        stream = config.start(chunk.resolution) if stream is None else stream
        labels = stream.label(chunk)
        pending.append(chunk)
        if len(labels) or not len(chunk):
            _check_count(config, len(labels), sum(map(len, pending)), at_most=True)
            yield _take(pending, len(labels)), labels
    if stream is not None:
        labels = stream.finish()
        _check_count(config, len(labels), sum(map(len, pending)))
        if len(labels):
            yield _take(pending, len(labels)), labels


def _check_count(config: Filter, n_labels: int, n_events: int, *, at_most: bool = False) -> None:
    """Raise unless a filter returned one label per event, or held some back."""
    if n_labels > n_events or (n_labels < n_events and not at_most):
        raise EventDataError(
            f"The filter {type(config).__name__} returned {n_labels} labels for {n_events} events. "
            "Its stream must return one label per event, in order, from `label` and `finish`."
        )


def _take(pending: list[Events], n: int) -> Events:
    """Remove the first n events from the pending chunks and return them."""
    events = Events.concatenate(pending)
    pending[:] = [events[n:]] if n < len(events) else []
    return events[:n]
