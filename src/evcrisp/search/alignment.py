"""The alignment problem of one window: motion parameters in, contrast and its gradient out."""

from dataclasses import dataclass, field, replace

import numpy as np

from evcrisp.contrast import ContrastMap, channel_weights
from evcrisp.core.errors import ConfigError
from evcrisp.core.types import Floats
from evcrisp.motion import PreparedWarp
from evcrisp.objectives import Normalized, Objective
from evcrisp.search.buffers import Workspace
from evcrisp.search.window_data import WindowData


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """Contrast of the warped events as a function of theta.

    Parameters
    ----------
    data : WindowData
        The events.
    contrast : ContrastMap
        How the map is made.
    objective : Objective
        How sharp it is; the sum over both maps if there are two, each per event of its own where the
        objective is a likelihood.
    weight : ndarray, shape (n,), optional
        What each event adds to the map; one each without it.
    polarity : {"unsigned", "separate", "signed"}
        Which events go to which map; see :func:`evcrisp.contrast.channel_weights`.
    workspace : Workspace, optional
        Scratch, which alignments of one thread may share.
    """

    data: WindowData
    contrast: ContrastMap
    objective: Objective
    weight: Floats | None = None
    polarity: str = "unsigned"
    workspace: Workspace = field(default_factory=Workspace, repr=False)
    _channels: tuple[tuple[PreparedWarp, Floats], ...] = field(init=False, repr=False)
    _shares: tuple[float, ...] = field(init=False, repr=False)  # what each channel counts

    def __post_init__(self) -> None:
        check_signed(self.objective, self.polarity)
        weights = channel_weights(self.data.p, self.polarity, self.weight)
        channels = tuple(_without_zeros(self.data.warp, weight) for weight in weights)
        object.__setattr__(self, "_channels", channels)
        object.__setattr__(self, "_shares", self._shares_of([float(w.sum()) for w in weights]))

    def iwe(self, theta: Floats) -> Floats:
        """Return the contrast map at ``theta``; the sum of both where polarities are separate."""
        first, *others = self.maps(theta)
        return np.sum(others, axis=0) + first if others else first

    def maps(self, theta: Floats) -> tuple[Floats, ...]:
        """Return the contrast map at ``theta``, or that of ON and that of OFF events."""
        build, resolution = self.contrast.build, self.data.resolution
        return tuple(build(*warp.warp(theta), w, resolution) for warp, w in self._channels)

    def value(self, theta: Floats) -> float:
        """Return the objective at ``theta``."""
        value = 0.0
        for (warp, weight), share in zip(self._channels, self._shares, strict=True):
            value += share * self.objective.value(self._voted(theta, warp, weight)[0])
        return value

    def value_and_gradient(self, theta: Floats) -> tuple[float, Floats]:
        """Return the objective and its gradient at ``theta``, shape (m,)."""
        value, gradient = 0.0, np.zeros(len(self.data.warp.model.param_names))
        for (warp, weight), share in zip(self._channels, self._shares, strict=True):
            iwe, u, v = self._voted(theta, warp, weight)
            # From here on the map holds the gradient with respect to itself, then to the votes.
            part, _ = self.objective.value_and_gradient(iwe, out=iwe)
            self.contrast.blur(iwe, out=iwe)
            slope_u = self.workspace.floats("slope_u", len(warp))
            slope_v = self.workspace.floats("slope_v", len(warp))
            self.contrast.slopes(iwe, u, v, slope_u, slope_v)
            slope_u *= weight
            slope_v *= weight
            value += share * part
            gradient += share * warp.pull_back(theta, slope_u, slope_v)
        return value, gradient / self.contrast.scale

    def normalized(self) -> "Alignment":
        """Return the same with the objective as a multiple of what it is without motion."""
        still = self.value(np.zeros(len(self.data.warp.model.param_names)))
        return replace(self, objective=Normalized.by(self.objective, still))

    def _shares_of(self, counts: list[float]) -> tuple[float, ...]:
        """Return what each channel counts; 1 where all have as many events."""
        if not self.objective.per_event or min(counts) <= 0.0:
            return (1.0,) * len(counts)
        mean = sum(counts) / len(counts)
        return tuple(mean / count for count in counts)

    def _voted(
        self, theta: Floats, warp: PreparedWarp, weight: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Return the map of some events and their positions on it; all three are scratch."""
        floats = self.workspace.floats
        iwe = floats("iwe", *self.contrast.shape(self.data.resolution))
        u, v = floats("u", len(warp)), floats("v", len(warp))
        warp.fill(theta, u, v)
        self.contrast.to_map(u, v, out=(u, v))
        iwe.fill(0.0)
        self.contrast.vote(u, v, weight, iwe)
        return self.contrast.blur(iwe, out=iwe), u, v


def check_signed(objective: Objective, polarity: str) -> None:
    """Raise a `ConfigError` for an objective that makes no sense on a map of ON minus OFF."""
    if polarity == "signed" and not objective.accepts_signed:
        raise ConfigError(
            f"Objective {objective.name!r} needs counts, and a signed map has values below 0. "
            "Use polarity 'unsigned' or 'separate', or the objective 'variance'."
        )


def _without_zeros(warp: PreparedWarp, weight: Floats) -> tuple[PreparedWarp, Floats]:
    """Return the events that add something; the others have no gradient either."""
    kept = np.flatnonzero(weight)
    return (warp, weight) if kept.size == weight.size else (warp.subset(kept), weight[kept])
