"""Multilayer perceptron filter: a small network looks at ages and polarities around an event."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError, FormatError
from evcrisp.core.events import Events
from evcrisp.filters.checks import at_least
from evcrisp.filters.learned import weights as _weights
from evcrisp.filters.learned.encoding import MLPF_RADIUS, TAU_US
from evcrisp.filters.protocol import About, Causal, Labels, checked

ENCODINGS = ("intended", "kugamas", "jaer")

_SHAPES: dict[str, tuple[int | None, ...]] = {
    "hidden_kernel": (2 * (2 * MLPF_RADIUS + 1) ** 2, None),
    "hidden_bias": (None,),
    "output_kernel": (None, 1),
    "output_bias": (1,),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mlpf:
    r"""Keep an event if a network of 98 inputs and 20 hidden units says so.

    The inputs are 49 ages, :math:`1 - \Delta t / \tau` of the last event of each of the 7x7 pixels
    around the event and 0 where it is older than :math:`\tau`, and the 49 polarities of those events
    (-1, 0, 1), with the event's own polarity in the center. Pixels outside the sensor never fired.
    The score is the probability of signal.

    Parameters
    ----------
    threshold : float
        Least score of an event that is kept.
    weights : str or path, optional
        Other weights: ``.npz`` as ``evcrisp train mlpf`` writes them, or a public ``.pt`` file
        (TorchScript, needs torch). Default: those that come with evcrisp, trained on simulated
        recordings.
    encoding : {"intended", "kugamas", "jaer"}
        How the inputs are made. "kugamas": all polarities are the event's own, and the first event
        of a pixel has age 1 itself. "jaer": the first event of a pixel is dropped unseen, its
        polarity is forgotten, and the last column counts as outside the sensor.
    tau_us : int
        Age at which a pixel is forgotten, us. The weights were trained with 100 ms.

    References
    ----------
    S. Guo and T. Delbruck, "Low cost and latency event camera background activity denoising",
    IEEE T-PAMI, 2022.
    """

    name: ClassVar[str] = "mlpf"
    about: ClassVar[About] = About(
        "Guo & Delbruck 2022; own weights",
        "49 pixels, 1 980 multiplications",
        "1 time and polarity per pixel",
        "KugaMas and jAER disagree about the inputs; the default follows the training scripts",
    )
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "kugamas": {"encoding": "kugamas", "threshold": 0.5},
        "jaer": {"encoding": "jaer", "threshold": 0.5},
    }

    threshold: float = 0.5
    weights: str | Path | None = None
    encoding: str = "intended"
    tau_us: int = TAU_US

    def __post_init__(self) -> None:
        if not 0.0 <= self.threshold <= 1.0:
            raise ConfigError(f"`threshold` must lie in 0..1; got {self.threshold}.")
        if self.encoding not in ENCODINGS:
            raise ConfigError(
                f"`encoding` must be one of {', '.join(ENCODINGS)}; got {self.encoding!r}."
            )
        at_least("tau_us", self.tau_us, 1)

    def start(self, resolution: tuple[int, int]) -> "MlpfStream":
        """Begin a recording in which no pixel has fired."""
        from evcrisp.kernels.filters.mlpf import NEVER

        width, height = resolution
        border = 2 * MLPF_RADIUS
        last = np.full((width + border, height + border), NEVER, np.int64)
        path = _weights.shipped("mlpf") if self.weights is None else Path(self.weights)
        return MlpfStream(self, last, _loaded(path))


@dataclass(frozen=True, slots=True, eq=False)
class MlpfStream(Causal):
    """The filter at work; ``last`` holds time and polarity of the last event of each pixel."""

    config: Mlpf
    last: NDArray[np.int64]  # (w + 6, h + 6), see the kernel
    weights: tuple[Any, ...]

    def label(self, events: Events) -> Labels:
        """Label the next chunk."""
        from evcrisp.kernels.filters import mlpf

        width, height = self.last.shape
        events = checked(events, (width - 2 * MLPF_RADIUS, height - 2 * MLPF_RADIUS))
        score = np.empty(len(events))
        mlpf.label(
            events.x,
            events.y,
            events.t,
            events.p.view(np.uint8),
            self.last,
            self.config.tau_us,
            ENCODINGS.index(self.config.encoding),
            self.weights,
            score,
        )
        return Labels(score >= self.config.threshold, score)


def _loaded(path: Path) -> tuple[Any, ...]:
    """Return the weights as the kernel takes them."""
    stamp = path.stat().st_mtime_ns if path.is_file() else 0
    return _read(path, stamp)


@functools.lru_cache(maxsize=8)
def _read(path: Path, stamp: int) -> tuple[Any, ...]:
    is_public = path.suffix.lower() == ".pt"
    read = _weights.read_torchscript if is_public else _weights.read_npz
    arrays = read(path, _SHAPES)
    sizes = {arrays[name].shape[axis] for name, axis in _HIDDEN_AXES.items()}
    if len(sizes) > 1:
        raise FormatError(f"the hidden layer has several sizes: {sorted(sizes)}", path=path)
    # The kernel takes two hidden units at a time; one of zeros changes nothing.
    extra = sizes.pop() % 2
    return (
        np.pad(arrays["hidden_kernel"].T, ((0, extra), (0, 0))).copy(),
        np.pad(arrays["hidden_bias"], (0, extra)),
        np.pad(arrays["output_kernel"][:, 0], (0, extra)),
        arrays["output_bias"][0],
    )


_HIDDEN_AXES = {"hidden_kernel": 1, "hidden_bias": 0, "output_kernel": 0}
