"""One recording with one method: the unit of work, and its name."""

import functools
import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import evcrisp
from evcrisp.experiments.datasets import Clip
from evcrisp.experiments.methods import Method

#: Raise this when a protocol changes what it measures, so that older results are not taken.
RESULTS_VERSION = 1


class Measure(Protocol):
    """What is measured: a recording, a method and settings become numbers (JSON types)."""

    __name__: str

    def __call__(self, clip: Clip, method: Method, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Do the work."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Work that needs nothing but files, and gives a small dictionary.

    Parameters
    ----------
    protocol : Measure
        A function of a module, so that other processes find it.
    clip : Clip
        The recording.
    method : Method
        What to do with it.
    settings : mapping
        Everything else that decides the result, as JSON types.
    """

    protocol: Measure
    clip: Clip
    method: Method
    settings: Mapping[str, Any]

    @property
    def name(self) -> str:
        """What logs call it."""
        return f"{self.clip.name} with {self.method.key}"

    def key(self, input_digest: str) -> str:
        """Return the name of its result: a hash of input, config and version."""
        facts = {
            "input": input_digest,
            "protocol": self.protocol.__name__,
            "method": self.method.config(),
            "settings": dict(self.settings),
            "version": evcrisp.__version__,
            "results": RESULTS_VERSION,
        }
        text = json.dumps(facts, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def run(self) -> dict[str, Any]:
        """Do the work, and say how long it took."""
        start = time.perf_counter()
        numbers = self.protocol(self.clip, self.method, self.settings)
        elapsed_s = round(time.perf_counter() - start, 4)
        return {"numbers": numbers, "elapsed_s": elapsed_s, "source": source_digest()}


@functools.cache
def source_digest() -> str:
    """Return a digest of the program's own text, to notice results of another state of it."""
    root = Path(evcrisp.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def run_task(task: Task) -> dict[str, Any]:
    """Run a task; a plain function, for executors."""
    return task.run()
