r"""Readiness of pixels, from event to event of a source; see `kernels.auto.event_evidence`.

The probability that an event is signal follows from that of the event before by a map
:math:`c \to (A c + B) / (C c + D)`. Such maps compose like matrices, so that a scan takes as many steps
as the logarithm of the longest sequence, instead of one per event.
"""

from typing import NamedTuple

from evcrisp.estimators.auto.on_device.sources import SourceOrder
from evcrisp.tensors.cuda.kernels import kernels_of
from evcrisp.tensors.lazy import Tensor, torch

#: As in `kernels.auto.event_evidence`.
_PER_HALF, _LOST = 0.5 / 0.6, 0.95


class Chances(NamedTuple):
    """Of events in the order of sources; tensors of shape (n,), single precision."""

    t: Tensor  # in windows
    excess: Tensor  # support above the background
    forward: Tensor  # probability of signal, given the events before
    backward: Tensor  # given the events after


def readiness_of_events(
    t: Tensor, support: Tensor, rate: Tensor, sources: SourceOrder
) -> tuple[Tensor, Chances]:
    """Return readiness before times readiness after, (n,), and the probabilities.

    ``rate``, (n,), is that of noise of the polarity and window of each event.
    """
    order, number = sources.order, sources.number
    kernels = kernels_of("labels.cu", t.device)
    if kernels is not None:
        columns = [torch.empty_like(support) for _ in range(5)]
        n = order.numel()
        kernels.launch_each(
            "readiness_of_events", n, order, number, sources.count, t, support, rate, n, *columns
        )  # fmt: skip
        return columns[4], Chances(*columns[:4])
    t, support, rate = (column.index_select(0, order) for column in (t, support, rate))
    excess = (support - rate).clamp(min=0.0)
    none = torch.zeros(1, dtype=t.dtype, device=t.device)
    interval = torch.cat((none, t[1:] - t[:-1]))
    both = torch.cat((none, excess[1:] + excess[:-1]))
    lost = torch.where(number > 0, _lost(interval, both), 0.0)
    forward = _scan(excess, rate, lost, number)
    from_end = (sources.count - 1 - number).flip(0)
    after = torch.cat((lost[1:], none))
    backward = _scan(excess.flip(0), rate.flip(0), after.flip(0), from_end).flip(0)
    before, later = torch.cat((none, forward[:-1])), torch.cat((backward[1:], none))
    ready = (1.0 - before * lost) * (1.0 - later * after)
    out = torch.empty_like(ready).index_copy_(0, order, ready)
    return out, Chances(t, excess, forward, backward)


def readiness_of_samples(
    t: Tensor, support: Tensor, rate: Tensor, source: Tensor, after: Tensor,
    sources: SourceOrder, chances: Chances,
) -> Tensor:  # fmt: skip
    """Return the readiness of noise samples, (m,), from that of the events.

    ``source`` and ``after``, (m,), are the source of a sample, and the first place behind it.
    """
    here = (support - rate).clamp(min=0.0)
    ready = torch.ones_like(here)
    if not chances.t.numel():
        return ready
    for place, sign, chance in ((after - 1, 1.0, chances.forward), (after, -1.0, chances.backward)):
        there = sources.is_of(place, source)
        at = place.clamp(0, chances.t.numel() - 1)
        interval = sign * (t - chances.t[at])
        lost = _lost(interval, here + chances.excess[at])
        ready = ready * torch.where(there, 1.0 - chance[at] * lost, 1.0)
    return ready


def _lost(interval: Tensor, both: Tensor) -> Tensor:
    """Return the readiness that is lost if the other event is signal."""
    share = (interval * both * _PER_HALF).clamp(max=1.0)
    return _LOST * (1.0 - share * share)


def _scan(excess: Tensor, rate: Tensor, lost: Tensor, number: Tensor) -> Tensor:
    """Return the probability of signal of each event, given those before in its source."""
    excess, rate = excess.to(torch.float64), rate.to(torch.float64)
    by_chance = -excess * lost
    a, b, c, d = by_chance, excess, by_chance, excess + rate
    step = 1
    longest = int(number.max()) if number.numel() else 0
    while step <= longest:
        place = torch.nonzero(number >= step).reshape(-1)
        earlier = place - step
        a1, b1, c1, d1 = (part.index_select(0, place) for part in (a, b, c, d))
        a0, b0, c0, d0 = (part.index_select(0, earlier) for part in (a, b, c, d))
        new = a1 * a0 + b1 * c0, a1 * b0 + b1 * d0, c1 * a0 + d1 * c0, c1 * b0 + d1 * d0
        unit = new[3]  # above 0: products of many would leave the range of numbers
        a, b, c, d = (
            part.index_copy(0, place, value / unit)
            for part, value in zip((a, b, c, d), new, strict=True)
        )
        step *= 2
    return (b / d).to(torch.float32)
