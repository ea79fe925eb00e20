"""Tasks: one recording with one method, and the key of the result."""

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import evcrisp
from evcrisp.experiments.code_digest import source_digest
from evcrisp.experiments.datasets import Clip
from evcrisp.experiments.methods import Method

#: Increase this number when a protocol changes, so that older results are not reused.
RESULTS_VERSION = 1


class Measure(Protocol):
    """A measurement of a recording and a method; returns JSON types."""

    __name__: str

    def __call__(self, clip: Clip, method: Method, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Measure."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A measurement of one recording with one method."""

    protocol: Measure  # function of a module, so that other processes can import it
    clip: Clip
    method: Method
    settings: Mapping[str, Any]  # all further settings that affect the result, as JSON types

    @property
    def name(self) -> str:
        """Name for logs."""
        return f"{self.clip.name} with {self.method.key}"

    def code(self) -> str:
        """Return a digest of the code of evcrisp and of the method."""
        return f"{source_digest()}{self.method.code()}"

    def key(self, input_digest: str) -> str:
        """Return the key of the result: a hash of input, settings, version and code."""
        facts = {
            "input": input_digest,
            "protocol": self.protocol.__name__,
            "method": self.method.config(),
            "settings": dict(self.settings),
            "version": evcrisp.__version__,
            "results": RESULTS_VERSION,
            "code": self.code(),
        }
        text = json.dumps(facts, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def run(self) -> dict[str, Any]:
        """Measure, and return the numbers with the elapsed time and the digest of the code."""
        start = time.perf_counter()
        numbers = self.protocol(self.clip, self.method, self.settings)
        elapsed_s = round(time.perf_counter() - start, 4)
        return {"numbers": numbers, "elapsed_s": elapsed_s, "source": self.code()}


def run_task(task: Task) -> dict[str, Any]:
    """Run a task; a function, so that executors can pickle it."""
    return task.run()
