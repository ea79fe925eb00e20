"""Event structural ratio (ESR, MESR): how far the events of a slice are from even noise."""

from collections.abc import Iterable, Iterator

from evcrisp.core.errors import EventDataError
from evcrisp.core.events import Events
from evcrisp.metrics.chunks import chunks_of
from evcrisp.metrics.control import random_chunks
from evcrisp.metrics.esr_meter import SLICE_EVENTS, EsrMeter
from evcrisp.metrics.esr_report import EsrReport


def esr(
    events: Events | Iterable[Events],
    *,
    raw: Events | Iterable[Events] | None = None,
    slice_events: int = SLICE_EVENTS,
    slice_us: int | None = None,
    seed: int = 0,
) -> EsrReport:
    r"""Return the event structural ratios of a recording, as E-MLB computes them.

    With the counts :math:`n_k` of the pixels of a slice, :math:`N = \sum n_k` and
    :math:`M = \lfloor 2N/3 \rfloor`,

    .. math::

        \mathrm{ESR} = \sqrt{\mathrm{NTSS} \, L_N}, \quad
        \mathrm{NTSS} = \frac{\sum n_k (n_k - 1)}{N (N - 1)}, \quad
        L_N = \sum_k 1 - (1 - M/N)^{n_k}.

    Version 2 takes the 3 x 3 medians :math:`m_k` of the counts, with zeros outside, and all
    :math:`K` pixels of the sensor: :math:`1000 \sqrt{\sum m_k^2 / N^2 \cdot (K - \sum 2^{-m_k}) / K}`.

    Parameters
    ----------
    events : Events or iterable of Events
        What is judged; chunks are read once.
    raw : Events or iterable of Events, optional
        What it was taken from, for retention and controls; read twice, so no generator.
    slice_events : int
        Events of a slice; an incomplete last slice is dropped.
    slice_us : int, optional
        Slices of time from the first event on, us, instead; the last one is dropped.
    seed : int
        Of the random control.

    Returns
    -------
    EsrReport
        Means are NaN where there is no complete slice.

    Raises
    ------
    EventDataError
        If ``raw`` can be read only once, or has fewer events than ``events``.

    Notes
    -----
    Polarity does not matter, nor does the order within a slice. One event alone has ratio 0. The
    ratio depends on the size of the slice more than on most filters; compare like with like.

    Examples
    --------
    >>> x = [0, 0, 1, 2, 2, 2]
    >>> events = Events(x=x, y=[0] * 6, t=range(6), p=[1] * 6, resolution=(4, 1))
    >>> report = esr(events, slice_events=6)
    >>> round(report.esr, 6), report.n_slices
    (0.819515, 1)
    """
    if isinstance(raw, Iterator):
        raise EventDataError(
            f"`raw` is read twice and must allow that; got a {type(raw).__name__}, which is empty "
            "after the first time. Pass Events or a list of chunks: recording.read(), or "
            "list(recording.chunks())."
        )
    own = _measured(events, slice_events, slice_us)
    if raw is None:
        return own
    base = _measured(raw, slice_events, slice_us)
    chunks = random_chunks(raw, min(own.n_events, base.n_events), n_total=base.n_events, seed=seed)
    return own.beside(base, _measured(chunks, slice_events, slice_us))


def _measured(
    source: Events | Iterable[Events], slice_events: int, slice_us: int | None
) -> EsrReport:
    meter: EsrMeter | None = None
    for chunk in chunks_of(source):
        if meter is None:
            meter = EsrMeter(chunk.resolution, slice_events=slice_events, slice_us=slice_us)
        meter.add(chunk)
    return (meter or EsrMeter((1, 1), slice_events=slice_events, slice_us=slice_us)).report()
