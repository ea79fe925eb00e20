"""Contrast at events and noise samples that comes from their own pixel; see `kernels.auto.self_support`."""

from evcrisp.estimators.auto.on_device.placement import MapPoints
from evcrisp.estimators.auto.on_device.sources import SourceOrder
from evcrisp.tensors.cuda.kernels import kernels_of
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.maps import MapLayout
from evcrisp.tensors.scatter import Scatter
from evcrisp.tensors.spline import Places, accumulate, sample, taps

#: As in `kernels.auto.self_support`: sources with more events get a map, of at most so many pixels;
#: events of its source that a noise sample may meet; smaller overlaps are none.
_LONG_BURST, _PATCH_PIXELS, _MAX_SAME_PIXEL, _LEAST_SHARE = 16, 4096, 64, 1e-3


def self_support_of_events(points: MapPoints, sources: SourceOrder, scatter: Scatter) -> Tensor:
    """Return the contrast that events of one source add at each other and themselves, (n,)."""
    member, burst = _bursts(points, sources, scatter)
    n, is_known = sources.order.numel(), torch.zeros_like(sources.order, dtype=torch.bool)
    is_known[member] = True
    kernels = kernels_of("labels.cu", member.device)
    if kernels is not None:
        own = torch.empty_like(points.x)
        own[sources.order[member]] = burst
        kernels.launch_each(
            "self_support_of_events", n, sources.order, sources.number, sources.count, is_known,
            points.x, points.y, points.places.a, points.places.b, n, own,
        )  # fmt: skip
        return own
    x, y, a, b = points.at(sources.order)
    own = _squares(a) * _squares(b)
    own[member] = burst
    later = torch.nonzero((sources.number > 0) & ~is_known).reshape(-1)
    # With the event before; then, while footprints still overlap, with the one before that.
    for lag in range(1, _LONG_BURST + 1):
        if not later.numel():
            break
        share = _overlaps((x, y, a, b), later, (x, y), later - lag)
        own.index_add_(0, later, share)  # every event once: the order does not matter
        own.index_add_(0, later - lag, share)
        goes_on = (share > 0.0) & (sources.number.index_select(0, later) > lag)
        later = later[goes_on]
    return torch.empty_like(own).index_copy_(0, sources.order, own)


def self_support_of_samples(
    samples: MapPoints, points: MapPoints, sources: SourceOrder, source: Tensor, after: Tensor
) -> Tensor:
    """Return the contrast that the events of its source add at each noise sample, (m,).

    ``source`` and ``after``, (m,), are the source of a sample, and the first place behind it.
    """
    kernels = kernels_of("labels.cu", source.device)
    if kernels is not None:
        own, n = torch.empty_like(samples.x), sources.order.numel()
        kernels.launch_each(
            "self_support_of_samples", source.numel(), source, after, samples.x, samples.y,
            samples.places.a, samples.places.b, source.numel(), sources.source, sources.order,
            points.x, points.y, n, own,
        )  # fmt: skip
        return own
    x, y, *_ = points.at(sources.order)
    all_samples = torch.arange(source.numel(), device=source.device)
    readers = samples.at(all_samples)
    own = torch.zeros_like(readers[2])
    for step, start in ((-1, after - 1), (1, after)):
        reader, place = all_samples, start
        for _ in range(_MAX_SAME_PIXEL):
            there = sources.is_of(place, source.index_select(0, reader))
            reader, place = reader[there], place[there]
            if not reader.numel():
                break
            share = _overlaps(readers, reader, (x, y), place)
            own.index_add_(0, reader, share)
            goes_on = share > 0.0
            reader, place = reader[goes_on], place[goes_on] + step
    return own


def _squares(offset: Tensor) -> Tensor:
    """Return the sum of the squared weights of three pixels."""
    first, middle, last = taps(offset)
    return first * first + middle * middle + last * last


def _overlaps(
    first: tuple[Tensor, ...], i: Tensor, second: tuple[Tensor, ...], j: Tensor
) -> Tensor:
    """Return the overlaps of pairs of footprints; 0 if they are tiny."""
    x, y, a, b = (column.index_select(0, i) for column in first)
    other_x, other_y = (column.index_select(0, j) for column in second)
    both = _shared(a, x - a - other_x) * _shared(b, y - b - other_y)
    return torch.where(both >= _LEAST_SHARE, both, 0.0)


def _shared(a: Tensor, distance: Tensor) -> Tensor:
    """Return the sum over pixels of the product of two splines, along one axis."""
    a0, a1, a2 = taps(a)
    return a0 * _spline(distance - 1.0) + a1 * _spline(distance) + a2 * _spline(distance + 1.0)


def _spline(distance: Tensor) -> Tensor:
    """Return the quadratic B-spline at distances."""
    d = distance.abs()
    wide, narrow = (1.5 - d).clamp(min=0.0), (0.5 - d).clamp(min=0.0)
    return 0.5 * wide * wide - 1.5 * narrow * narrow


def _bursts(points: MapPoints, sources: SourceOrder, scatter: Scatter) -> tuple[Tensor, Tensor]:
    """Return the self-support of sources with many events, from a small map of each.

    Places in the order of sources, and values; sources whose map would be large are not among them.
    """
    member = torch.nonzero(sources.count > _LONG_BURST).reshape(-1)
    x, y, a, b = points.at(sources.order.index_select(0, member))
    if not member.numel():
        return member, a
    source = sources.source.index_select(0, member)
    _, burst, count = torch.unique_consecutive(source, return_inverse=True, return_counts=True)
    column, row = _whole(x - a), _whole(y - b)
    left, right = _ends(column, burst, count.numel())
    top, bottom = _ends(row, burst, count.numel())
    width, height = right - left + 3, bottom - top + 3
    fits = (width * height <= _PATCH_PIXELS) & (torch.maximum(width, height) < _PATCH_PIXELS)
    layout = MapLayout.of(torch.where(fits, width, 0), torch.where(fits, height, 0))
    chosen = fits[burst]
    member, burst, a, b = member[chosen], burst[chosen], a[chosen], b[chosen]
    if not member.numel():
        return member, a
    wide = layout.width[burst]
    cell = (row[chosen] - top[burst]) * wide + column[chosen] - left[burst] + layout.starts[burst]
    places = Places(cell, wide, a, b, torch.ones_like(cell, dtype=torch.bool))
    return member, sample(accumulate(places, layout.size, scatter), places)


def _whole(value: Tensor) -> Tensor:
    return torch.round(value).to(torch.int64)


def _ends(value: Tensor, group: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Return the least and the largest value of each group, (n,)."""
    out = torch.zeros(n, dtype=value.dtype, device=value.device)
    low = out.scatter_reduce(0, group, value, "amin", include_self=False)
    high = out.scatter_reduce(0, group, value, "amax", include_self=False)
    return low, high
