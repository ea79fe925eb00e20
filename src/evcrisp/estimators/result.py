"""Result of an estimator for one window."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.doubt import Doubt
from evcrisp.core.errors import EventDataError, UnknownNameError
from evcrisp.core.events import Events
from evcrisp.core.flow import Flow
from evcrisp.core.status import Status
from evcrisp.core.types import Bools, Floats
from evcrisp.core.windows import Window, seconds_since
from evcrisp.estimators.layer import (
    Layer,
    LayerMap,
    LayerMotion,
    near_events,
    split_by_region,
)
from evcrisp.motion.open_motion import affine_at, is_open
from evcrisp.motion.protocol import MotionModel, center_of
from evcrisp.motion.velocity import velocity_of
from evcrisp.optimize import SolverResult
from evcrisp.search.window_data import WindowData

#: Least number of events of an object: smaller regions are mostly noise that clusters.
MIN_OBJECT_EVENTS = 200

#: Half of the difference of parameters whose fields are compared; units of the parameter.
_STEP = 1e-3


#: Fields with a number for each event.
_COLUMNS = ("signal", "score", "confidence", "aligned_x", "aligned_y", "layer")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Regret:
    """Both objectives of the joint problem at its solution.

    ``lam`` is the multiplier of the larger regret: 0 if alignment has it, 1 if denoising has it,
    in between if both are equal.
    """

    f_ea: float  # variance of the contrast map
    f_ed: float  # variance of the weighted contrast map
    baseline_ea: float
    baseline_ed: float
    lam: float
    value: float  # the joint objective J

    @property
    def regret_ea(self) -> float:
        """Regret of alignment: its baseline minus what was reached."""
        return self.baseline_ea - self.f_ea

    @property
    def regret_ed(self) -> float:
        """Regret of denoising: what was reached minus its baseline."""
        return self.f_ed - self.baseline_ed


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Estimate:
    """Motion and labels of one window.

    Attributes
    ----------
    theta, motion : ndarray of shape (m,), MotionModel
        Motion parameters and their model; units in ``motion.param_units``. Of several motions, that
        of the layer with the most events.
    signal, score : ndarray of bool and of float64, shape (n,)
        True = keep; finite, larger = more likely signal.
    confidence : ndarray of float64, shape (n,)
        Confidence in each event, 0 to 1. "exact" and "paper" read the map W at the event, "auto"
        applies the same formula to the evidence of the event; other methods give 0 or 1.
    aligned_x, aligned_y : ndarray of float64, shape (n,)
        Positions at the reference time, px, each event moved by its own motion.
    layer : ndarray of int16, shape (n,)
        Position in ``layers`` of the motion of each event; -1 for noise.
    layer_motions, layer_map : tuple of LayerMotion, LayerMap or None
        Motions of the window, most events first; where each of them holds, None for one motion.
    w_map : ndarray, shape of the contrast map, or None
        The confidence map W. With "auto" it belongs to the motion that gave the labels, of which
        ``theta`` is a refinement.
    regret : Regret or None
        Objectives of the joint problem at the same motion, for the methods that solve it.
    covariance : ndarray of shape (m, m), or None
        Covariance of ``theta``, in squares of its units; None where it cannot be determined.
    status : Status
        How the search for theta ended.
    doubts, warnings : tuple of Doubt, tuple of str
        Reasons not to use the motion as it is; the same in words, with what to do, and other remarks.
    misfit : float
        Share of the structured events that the motions leave unexplained, 0 to 1; NaN if not known.

    Examples
    --------
    >>> import evcrisp
    >>> scene = evcrisp.simulate(theta=(300.0, -120.0), duration_us=30_000, seed=1)
    >>> result = evcrisp.estimate(scene.events)
    >>> bool(abs(result["vx"] - 300.0) < 10.0), len(result.kept()) == int(result.signal.sum())
    (True, True)
    """

    theta: Floats
    signal: NDArray[np.bool_]
    score: Floats
    confidence: Floats
    aligned_x: Floats
    aligned_y: Floats
    status: Status
    motion: MotionModel
    window: Window
    config: Any
    n_eval: int = 0
    w_map: Floats | None = None
    regret: Regret | None = None
    warnings: tuple[str, ...] = field(default=())
    covariance: Floats | None = None
    doubts: tuple[Doubt, ...] = ()
    misfit: float = float("nan")
    fit: Any = field(default=None, repr=False)  # `Misfit`, where a search has measured it
    # Labels by the motion alone, shape (n,), where others are better: they tell how good the motion is.
    motion_signal: Bools | None = field(default=None, repr=False)
    layer: NDArray[np.int16] = field(default_factory=lambda: np.empty(0, np.int16))
    layer_motions: tuple[LayerMotion, ...] = ()
    layer_map: LayerMap | None = None

    def __post_init__(self) -> None:
        if self.layer_map is None:
            layer = np.subtract(self.signal, 1, dtype=np.int16)
            object.__setattr__(self, "layer", layer)
            only = LayerMotion(
                motion=self.motion, theta=self.theta, covariance=self.covariance, doubts=self.doubts
            )
            object.__setattr__(self, "layer_motions", (only,))
        new = (doubt.value for doubt in self.doubts if doubt.value not in self.warnings)
        object.__setattr__(self, "warnings", (*self.warnings, *new))
        n, m = len(self.window.events), len(self.motion.param_names)
        for name in _COLUMNS:
            column = getattr(self, name)
            if getattr(column, "shape", None) != (n,) and np.shape(column) != (n,):
                raise self._wrong_shape(name, (n,))
        if np.shape(self.theta) != (m,):
            raise self._wrong_shape("theta", (m,))
        if self.covariance is not None and np.shape(self.covariance) != (m, m):
            raise self._wrong_shape("covariance", (m, m))

    def _wrong_shape(self, name: str, shape: tuple[int, ...]) -> EventDataError:
        return EventDataError(
            f"of a window of {len(self.window.events)} events must have shape {shape}; got "
            f"{np.shape(getattr(self, name))} from {type(self.config).__name__}",
            parameter=name,
        )

    def __len__(self) -> int:
        return self.signal.size

    def __getitem__(self, parameter: str) -> float:
        """Return a motion parameter by name, such as ``result["vx"]``."""
        names = self.motion.param_names
        if parameter not in names:
            raise UnknownNameError(
                f"The motion {self.motion.name!r} has no parameter {parameter!r}. "
                f"Known: {', '.join(names)}."
            )
        return float(self.theta[names.index(parameter)])

    @property
    def reliable(self) -> bool:
        """Whether the motion can be used: the search converged, and there is no doubt."""
        return self.status is Status.CONVERGED and not self.doubts

    @property
    def std(self) -> Floats:
        """Standard deviations of ``theta``, shape (m,); NaN where they are not known.

        The interval of 95 % is ``theta`` plus and minus 1.96 times this.
        """
        if self.covariance is None:
            return np.full(self.theta.size, np.nan)
        return np.sqrt(np.diag(self.covariance))

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The motions of the window with their events, box and mask; one for a single motion."""
        return tuple(
            Layer(
                motion=part.motion, theta=part.theta, covariance=part.covariance,
                doubts=part.doubts, id=part.id, index=index, events=self.window.events[self.layer == index],
            )
            for index, part in enumerate(self.layer_motions)
        )  # fmt: skip

    def objects(self, min_events: int = MIN_OBJECT_EVENTS) -> tuple[Layer, ...]:
        """Return the connected regions of each layer that have enough events, as layers.

        Things that move alike share a layer; each of them is an object of its own.
        :class:`evcrisp.ObjectTracker` gives objects a number over the windows of a recording.
        """
        return tuple(
            region for layer in self.layers for region in split_by_region(layer, min_events)
        )

    @property
    def velocity(self) -> Floats:
        """Velocity of every event at its own place and time, shape (n, 2), px/s.

        Noise gets the velocity of the motion that holds around it.
        """
        events = self.window.events
        dt = seconds_since(events.t, self.window.t_ref)
        return self._velocity_at(events.x, events.y, dt)

    def flow(self, *, everywhere: bool = False) -> Flow:
        """Return the dense velocity field at the reference time.

        It is valid near signal: in cells of 8 px with signal, and those that touch one. With
        ``everywhere`` it is valid wherever the motion has a velocity.
        """
        window, (width, height) = self.window, self.window.events.resolution
        y, x = np.mgrid[0:height, 0:width]
        velocity = self._velocity_at(x.ravel(), y.ravel(), np.zeros(x.size))
        velocity = velocity.reshape(height, width, 2)
        valid = np.asarray(np.isfinite(velocity).all(axis=2) & self.status.has_motion)
        if not everywhere:
            valid = valid & near_events(self.kept())
        t_end = max(window.t_end, window.t_start + 1)
        return Flow(velocity.astype(np.float32), valid, window.t_start, t_end)

    def align(self, events: Events, t_us: int) -> tuple[Floats, Floats]:
        """Return the positions of events of the window at a time, px, each moved by its own motion."""
        x, y, dt = events.x, events.y, seconds_since(events.t, t_us)
        if self.layer_map is None:
            return self.motion.warp(self.theta, x, y, dt)
        out_x, out_y = np.empty(len(events)), np.empty(len(events))
        for part, here in self._by_motion(x, y, seconds_since(events.t, self.window.t_ref)):
            positions = part.motion.warp(part.theta, x[here], y[here], dt[here])
            out_x[here], out_y[here] = positions
        return out_x, out_y

    @property
    def moved_center(self) -> tuple[float, float] | None:
        """Place to which the parameters of one motion refer, px, if it is not the middle of the sensor."""
        center = getattr(self.motion, "center", None)
        if self.layer_map is not None or center == center_of(self.window.events.resolution):
            return None
        return center

    def parameters(self, model: MotionModel) -> Floats:
        """Return the motion as numbers of a model: ``theta``, or those of an `OpenMotion`."""
        if not is_open(model) or self.layer_map is not None:
            # A layer has an affine motion about its own middle: elsewhere it means little.
            return self.theta
        return affine_at(self.motion, self.theta, center_of(self.window.events.resolution))

    def parameters_std(self, model: MotionModel) -> Floats:
        """Return the standard deviations of `parameters`; NaN where they are not known."""
        return np.sqrt(np.diag(self.parameters_covariance(model)))

    def parameters_covariance(self, model: MotionModel) -> Floats:
        """Return the covariance of `parameters`, shape (m, m); NaN where it is not known."""
        n = self.parameters(model).size
        if self.covariance is None:
            return np.full((n, n), np.nan)
        if not is_open(model) or self.layer_map is not None:
            return self.covariance if n == self.theta.size else np.full((n, n), np.nan)
        center, columns = center_of(self.window.events.resolution), []
        for step in _STEP * np.eye(self.theta.size):
            ahead = affine_at(self.motion, self.theta + step, center)
            columns.append(
                (ahead - affine_at(self.motion, self.theta - step, center)) / (2 * _STEP)
            )
        rates = np.stack(columns, axis=1)
        return rates @ self.covariance @ rates.T

    def _velocity_at(self, x: NDArray[Any], y: NDArray[Any], dt: Floats) -> Floats:
        """Return velocities at pixels, shape (n, 2), each by the motion that holds there."""
        if self.layer_map is None:
            return velocity_of(self.motion, self.theta, x, y, dt)
        velocity = np.empty((x.size, 2))
        for part, here in self._by_motion(x, y, dt):
            # A thing that turns takes its middle along, a camera does not: the field at the reference time
            # lies between both.
            velocity[here] = velocity_of(part.motion, part.theta, x[here], y[here], np.zeros(1))
        return velocity

    def _by_motion(
        self, x: NDArray[Any], y: NDArray[Any], dt: Floats
    ) -> Iterator[tuple[LayerMotion, Bools]]:
        """Yield each motion, and where it holds among pixels at times since ``t_ref``, s."""
        window, layer_map = self.window, self.layer_map
        if layer_map is None:
            return
        since_start_s = dt + (window.t_ref - window.t_start) / 1e6
        share = since_start_s / max((window.t_end - window.t_start) / 1e6, 1e-6)
        index = layer_map.at(x, y, share)
        for i, part in enumerate(self.layer_motions):
            yield part, index == i

    def kept(self) -> Events:
        """Return the events that are signal."""
        return self.window.events[self.signal]

    def __repr__(self) -> str:
        named = zip(self.motion.param_names, self.theta, self.motion.param_units, strict=True)
        theta = ", ".join(f"{name}={value:.4g} {unit}" for name, value, unit in named)
        if self.layer_map is not None:
            theta = f"{len(self.layer_motions)} layers, largest {theta}"
        elif (center := self.moved_center) is not None:
            theta += f" about ({center[0]:.0f}, {center[1]:.0f}) px"
        doubts = "".join(f", {doubt.code}" for doubt in self.doubts)
        return (
            f"Estimate({theta}; signal={int(self.signal.sum())} of {len(self)}, "
            f"{self.status.name.lower()}{doubts})"
        )

    def _repr_html_(self) -> str:
        """Return the card that notebooks show: facts, raw events, aligned signal, and layers."""
        from evcrisp.core.notebook_html import html_card, layer_thumbnail, thumbnail

        events, kept = self.window.events, self.signal
        named = zip(self.motion.param_names, self.theta, self.motion.param_units, strict=True)
        motions: list[tuple[str, str]] = [
            (name, f"{value:.4g} {unit}" if np.isnan(std) else f"{value:.4g} ± {std:.2g} {unit}")
            for (name, value, unit), std in zip(named, self.std, strict=True)
        ]
        if (center := self.moved_center) is not None:
            motions.append(("about", f"({center[0]:.0f}, {center[1]:.0f}) px"))
        several = len(self.layer_motions) > 1
        facts = [
            *(self._layer_facts() if several else motions),
            ("signal", f"{int(kept.sum()):,} of {len(self):,} events"),
            ("status", self.status.value),
            ("reliable", "yes" if self.reliable else "no"),
            *(("warning", warning) for warning in self.warnings),
        ]
        aligned = self.aligned_x[kept], self.aligned_y[kept]
        pictures = [
            ("raw", thumbnail(events.x, events.y, events.p, events.resolution)),
            ("denoised, aligned", thumbnail(*aligned, events.p[kept], events.resolution)),
        ]
        if several:
            ids = [part.id for part in self.layer_motions]
            picture = layer_thumbnail(events.x, events.y, self.layer, ids, events.resolution)
            pictures.append(("layers", picture))
        return html_card("Estimate", facts, pictures)

    def _layer_facts(self) -> list[tuple[str, str]]:
        """Return the number of layers, and the motions of the largest ones, for notebooks."""
        layers, shown = self.layers, 4
        facts = [("layers", str(len(layers)))]
        for layer in layers[:shown]:
            vx, vy = layer.velocity
            text = f"({vx:.4g}, {vy:.4g}) px/s, {len(layer):,} events"
            facts.append((f"layer {layer.id}", text))
        if len(layers) > shown:
            facts.append(("other layers", f"{sum(map(len, layers[shown:])):,} events"))
        return facts


def estimate_from_solver(
    config: Any,
    window: Window,
    data: WindowData,
    end: SolverResult,
    score: Floats,
    signal: Bools | None = None,
    confidence: Floats | None = None,
    **fields: Any,
) -> Estimate:
    """Return the estimate of a method at the motion that its solver found.

    ``config`` is the method; ``window`` and ``data`` hold all events, hot pixels included. By default
    labels are all True, and the confidence is 1 for signal and 0 for noise.
    """
    signal = np.ones(len(data), np.bool_) if signal is None else signal
    x, y = data.warp.warp(end.theta)
    return Estimate(
        theta=end.theta, signal=signal, score=score,
        confidence=signal.astype(np.float64) if confidence is None else confidence,
        aligned_x=x, aligned_y=y, status=end.status, motion=data.warp.model, window=window,
        config=config, n_eval=end.n_eval, **fields,
    )  # fmt: skip
