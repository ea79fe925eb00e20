"""Test whether an estimated motion differs significantly from zero."""

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np

from evcrisp.contrast import ContrastMap
from evcrisp.contrast.contrast_map import event_peak
from evcrisp.core.doubt import Doubt
from evcrisp.core.types import Bools, Floats
from evcrisp.estimators.hot_pixels import hot_events
from evcrisp.estimators.result import Estimate
from evcrisp.search.event_view import some_events
from evcrisp.search.scaling import Scaling
from evcrisp.search.window_data import WindowData

#: Displacements above 6 px skip the test if the window has more than 5000 events: chance does not
#: produce them.
_MAX_TESTED_PX, _FEW_EVENTS = 6.0, 5_000

#: Required growth of the number of event pairs that meet, in standard deviations. On 63 kinds of
#: simulated windows, motions wrong by a tenth or more mostly stay below 10, others exceed 12.
MIN_GAIN_SIGMAS = 11.0

#: Number of events in the first and in the second test. 8192 are mostly enough if the scene moves;
#: 50 000 limit the time.
_FIRST_SUBSAMPLE, _SECOND_SUBSAMPLE = 8_192, 50_000

#: Share of the events below which signal may be noise that a motion happens to align, as a search among
#: many motions finds: in noise of clusters up to 0.1. Of small things that the labels find, all events
#: meet more often by 12 standard deviations and more; of noise they mostly meet less often.
_LITTLE_SIGNAL = 0.15

#: The contrast map of the search.
_CONTRAST = ContrastMap(footprint="spline", sigma_px=0.0, scale=2)

#: Fewer signal events do not show a motion.
MIN_SIGNAL = 100

TOO_LITTLE_SIGNAL = Doubt.CHANCE.value

NOT_SIGNIFICANT = Doubt.AT_REST.value


def with_significance_warning(result: Estimate) -> Estimate:
    """Return an estimate, with a warning if its motion does not differ significantly from zero."""
    if not result.status.is_usable or result.warnings or result.layer_map is not None:
        return result
    events = result.window.events
    span_s = (int(events.t[-1]) - int(events.t[0])) / 1e6
    displacement = Scaling.of(result.motion, events.resolution, span_s).scaled(result.theta)
    if len(events) > _FEW_EVENTS and float(displacement @ displacement) > _MAX_TESTED_PX**2:
        return result
    if _gain_sigmas(result, result.signal, _FIRST_SUBSAMPLE) > MIN_GAIN_SIGMAS:
        return result
    # Hot pixels are sharpest without motion. Finding them takes longer than the first test.
    signal = result.signal & ~hot_events(events)
    if _gain_sigmas(result, signal, _SECOND_SUBSAMPLE) > MIN_GAIN_SIGMAS:
        return result
    return replace(result, warnings=(NOT_SIGNIFICANT,))


def is_met_by_chance(result: Estimate) -> bool:
    """Return whether a motion of little signal aligns all events hardly better than rest does."""
    if np.count_nonzero(result.signal) >= _LITTLE_SIGNAL * len(result):
        return False
    events = result.window.events
    others = np.flatnonzero(~hot_events(events))
    for n_events in (_FIRST_SUBSAMPLE, _SECOND_SUBSAMPLE):
        chosen = some_events(events, others, n_events)
        aligned = result.aligned_x[chosen], result.aligned_y[chosen]
        still = events.x[chosen].astype(np.float64), events.y[chosen].astype(np.float64)
        if pair_gain_sigmas(aligned, still, events.resolution) > MIN_GAIN_SIGMAS:
            return False
    return True


def _gain_sigmas(result: Estimate, kept: Bools, max_events: int) -> float:
    """Return the growth of event pairs that meet, against zero motion, in standard deviations."""
    events = result.window.events
    chosen = some_events(events, np.arange(kept.size), max_events)
    subsample = replace(result.window, events=events[chosen[kept[chosen]]])
    warp = WindowData.of(subsample, result.motion).warp
    aligned, still = warp.warp(result.theta), warp.warp(np.zeros_like(result.theta))
    return pair_gain_sigmas(aligned, still, events.resolution)


@lru_cache(maxsize=1)
def _peak() -> float:
    return event_peak(_CONTRAST)


def pair_gain_sigmas(
    aligned: tuple[Floats, Floats], still: tuple[Floats, Floats], resolution: tuple[int, int]
) -> float:
    """Return how many more pairs of events meet at aligned positions, in standard deviations."""
    from evcrisp.kernels.contrast.spline import locate_and_accumulate, overlap_of_pairs

    peak, pairs = _peak(), []
    scale, image = _CONTRAST.scale, np.empty(_CONTRAST.shape(resolution))
    shift = (_CONTRAST.padding_px + 0.5) / scale - 0.5  # as `ContrastMap.to_map`
    for x, y in (aligned, still):
        cell, (a, b) = np.empty(x.size, np.int32), np.empty((2, x.size))
        locate_and_accumulate(x, y, 1.0 / scale, shift, shift, cell, a, b, image)
        pairs.append(overlap_of_pairs(cell, a, b, image) / peak)
    return (pairs[0] - pairs[1]) / math.sqrt(max(pairs[1], 1.0))
