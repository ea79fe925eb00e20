"""Write the motion of every window of a live session to a CSV file."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from evcrisp.core.registry import build
from evcrisp.estimators.estimate import model_for
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.io.atomic_output import replacing
from evcrisp.pipeline.run_log import MotionFile
from evcrisp.streaming.cleaning import LivePart


class MotionTable:
    """A context manager with a `write` for ``on_part``; without a path it does nothing.

    The columns are those of motion.csv of :func:`evcrisp.run`. The file appears when it is complete;
    a session without windows has none.
    """

    def __init__(
        self, path: Path | None, method: str, motion: str, *, overwrite: bool = False
    ) -> None:
        self._path, self._method, self._motion = path, method, motion
        self._overwrite = overwrite
        self._stack = ExitStack()
        self._file: MotionFile | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self._stack.__exit__(kind, error, trace)

    def write(self, part: LivePart) -> None:
        """Append the row of a window."""
        if self._path is None or part.estimate is None:
            return
        if self._file is None:
            self._file = self._start(self._path, part)
        self._file.write_window(part.estimate)

    def _start(self, path: Path, part: LivePart) -> MotionFile:
        estimator = build(ESTIMATORS, self._method, "method")
        model = model_for(self._motion, part.events.resolution, None, estimator)
        temporary = self._stack.enter_context(replacing(path, overwrite=self._overwrite))
        file = MotionFile(temporary, model)
        self._stack.callback(file.close)
        return file
