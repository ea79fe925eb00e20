"""Multilayer perceptron filter: a small network on ages and polarities around an event."""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from evcrisp.core.errors import FormatError
from evcrisp.core.events import Events
from evcrisp.core.validation import check_choice, check_number
from evcrisp.filters.learned.encoding import MLPF_RADIUS, TAU_US
from evcrisp.filters.learned.weights import read_npz, read_torchscript, weights_file
from evcrisp.filters.protocol import About, CausalStream, Filter, Labels, Presets, check_minimum

ENCODINGS = ("intended", "kugamas", "jaer")

_SHAPES: dict[str, tuple[int | None, ...]] = {
    "hidden_kernel": (2 * (2 * MLPF_RADIUS + 1) ** 2, None),
    "hidden_bias": (None,),
    "output_kernel": (None, 1),
    "output_bias": (1,),
}
_HIDDEN_AXES = {"hidden_kernel": 1, "hidden_bias": 0, "output_kernel": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mlpf(Filter):
    r"""Keep an event if a network of 98 inputs and 20 hidden units labels it as signal.

    The inputs are 49 ages and 49 polarities of the last events of the 7x7 pixels around the event.
    An age enters as :math:`1 - \Delta t / \tau`, and 0 if it exceeds :math:`\tau`; a polarity as -1, 0
    or 1, with the event's own polarity in the center. Pixels outside the sensor have not fired. The
    score is the probability of signal.

    Parameters
    ----------
    threshold : float
        Minimum score of kept events.
    weights : str or path, optional
        Other weights: ``.npz`` as written by ``evcrisp train mlpf``, or a public ``.pt`` file
        (TorchScript, needs torch). Default: the weights of evcrisp, trained on simulated recordings.
    encoding : {"intended", "kugamas", "jaer"}
        Encoding of the inputs. "kugamas": all polarities are that of the event, and the first event
        of a pixel has age 1 itself. "jaer": the first event of a pixel is dropped without the
        network, its polarity is unknown, and the last column counts as outside the sensor.
    tau_us : int
        Maximum age of events, us. The weights were trained with 100 ms.

    References
    ----------
    Guo, Delbruck, "Low cost and latency event camera background activity denoising", PAMI, 2022.
    """

    name: ClassVar[str] = "mlpf"
    about: ClassVar[About] = About(
        "Guo & Delbruck 2022; own weights",
        "49 pixels, 1 980 multiplications",
        "1 time and polarity per pixel",
        "KugaMas and jAER disagree about the inputs; the default follows the training scripts",
    )
    presets: ClassVar[Presets] = {
        "kugamas": {"encoding": "kugamas", "threshold": 0.5},
        "jaer": {"encoding": "jaer", "threshold": 0.5},
    }

    threshold: float = 0.5
    weights: str | Path | None = None
    encoding: str = "intended"
    tau_us: int = TAU_US

    def __post_init__(self) -> None:
        check_number("threshold", self.threshold, 0, 1)
        check_choice("encoding", self.encoding, ENCODINGS)
        check_minimum(self, tau_us=1)

    def start(self, resolution: tuple[int, int]) -> "MlpfStream":
        """Start a recording."""
        return MlpfStream(self, resolution)


class MlpfStream(CausalStream):
    """State of the filter: time and polarity of the last event of each pixel."""

    def __init__(self, config: Mlpf, resolution: tuple[int, int]) -> None:
        from evcrisp.kernels.filters.learned.mlpf import NEVER

        super().__init__(resolution)
        self._config = config
        shape = tuple(size + 2 * MLPF_RADIUS for size in resolution)
        self._last = np.full(shape, NEVER, np.int64)
        self.weights = _read(*weights_file("mlpf", config.weights))

    def fill(self, events: Events, labels: Labels) -> None:
        """Label a chunk."""
        from evcrisp.kernels.filters.learned.mlpf import score_events

        config = self._config
        columns = (events.x, events.y, events.t, events.p.view(np.uint8))
        encoding = ENCODINGS.index(config.encoding)
        score_events(*columns, self._last, config.tau_us, encoding, self.weights, labels.score)
        np.greater_equal(labels.score, config.threshold, out=labels.signal)


@functools.lru_cache(maxsize=8)
def _read(path: Path, modified_ns: int) -> tuple[Any, ...]:
    """Return the weights in the layout of the kernel."""
    read = read_torchscript if path.suffix.lower() == ".pt" else read_npz
    arrays = read(path, _SHAPES)
    sizes = {arrays[name].shape[axis] for name, axis in _HIDDEN_AXES.items()}
    if len(sizes) > 1:
        raise FormatError(f"the hidden layer has several sizes: {sorted(sizes)}", path=path)
    # The kernel processes two hidden units at a time; a unit of zeros changes nothing.
    extra = sizes.pop() % 2
    return (
        np.pad(arrays["hidden_kernel"].T, ((0, extra), (0, 0))).copy(),
        np.pad(arrays["hidden_bias"], (0, extra)),
        np.pad(arrays["output_kernel"][:, 0], (0, extra)),
        arrays["output_bias"][0],
    )
