"""Networks with public weights, by the path of the weights."""

import hashlib
import importlib.util
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.core.registry import require
from evcrisp.core.types import Floats
from evcrisp.experiments.bench.competitors.live import HeldStream
from evcrisp.filters.learned.mlpf import Mlpf
from evcrisp.filters.protocol import Filter, Labels, Stream

#: Length of the sequences of EDformer, events, and the largest probability of noise of kept events.
SEQUENCE, MAX_NOISE = 4096, 0.005


def public_mlpf(path: str) -> Filter:
    """Return the filter MLPF with public weights; its inputs are those of KugaMas."""
    return Mlpf(weights=path, encoding="kugamas", threshold=0.5)


@dataclass(frozen=True, slots=True)
class Edformer(Filter):
    """EDformer from a folder with ``model.py`` and ``pretrained_model.pth`` of its authors.

    The code of the folder is executed. Its inputs are t normalized over the recording, x, y in px, and p;
    sequences have 4096 events. The last events, which fill no sequence, are labeled together with the ones
    before them. The score is minus the probability of noise.
    """

    name: ClassVar[str] = "edformer"
    title: ClassVar[str] = "EDformer, public weights"
    is_causal: ClassVar[bool] = False

    folder: str
    digest: str = field(init=False, default="")  # of code and weights

    def __post_init__(self) -> None:
        files = [Path(self.folder, name) for name in ("model.py", "pretrained_model.pth")]
        missing = [file.name for file in files if not file.is_file()]
        if missing:
            raise ConfigError(
                f"The folder of EDformer has no {' and no '.join(missing)}; got {self.folder}."
            )
        require("torch", extra="torch", purpose="EDformer")
        digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
        object.__setattr__(self, "digest", digest)

    def start(self, resolution: tuple[int, int]) -> Stream:
        """Start a recording."""
        return HeldStream(self._labels_of)

    def _labels_of(self, events: Events) -> Labels:
        noise = self.noise_of(events)
        return Labels(noise < MAX_NOISE, -noise)

    def noise_of(self, events: Events) -> Floats:
        """Return the probability of noise of each event of a recording."""
        torch, network = self._network()
        span = max(events.duration_us, 1)
        t = (events.t - events.t[0]) / span
        table = np.column_stack((t, events.x, events.y, events.p)).astype(np.float32)
        found = np.empty(len(events))
        for first in range(0, len(events), SEQUENCE):
            start = max(min(first, len(events) - SEQUENCE), 0)
            part = torch.from_numpy(table[start : start + SEQUENCE].copy())[None]
            with torch.no_grad():
                noise = torch.sigmoid(network(part)).numpy().ravel()
            found[start : start + SEQUENCE] = noise
        return found

    def _network(self) -> tuple[Any, Any]:
        torch = require("torch", extra="torch", purpose="EDformer")
        folder = Path(self.folder)
        name = f"_evcrisp_edformer_{self.digest}"
        if name not in sys.modules:
            spec = importlib.util.spec_from_file_location(name, folder / "model.py")
            if spec is None or spec.loader is None:
                raise ConfigError(f"{folder / 'model.py'} cannot be imported.")
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            try:
                spec.loader.exec_module(module)
            except ImportError as error:
                del sys.modules[name]
                raise ConfigError(f"EDformer needs packages that are missing: {error}.") from error
        network = sys.modules[name].EDformer()
        weights = torch.load(folder / "pretrained_model.pth", map_location="cpu", weights_only=True)
        network.load_state_dict(weights)
        network.eval()
        return torch, network
