"""Estimate several windows at the same time, with the same result on every machine."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.windows import Window
from evcrisp.estimators.hot_history import HotHistory, run_without
from evcrisp.estimators.result import Estimate, Estimator
from evcrisp.motion import MotionModel

#: Windows that are estimated at the same time. A part of the result, hence not the number of cores.
N_LANES = 2


def estimated(
    windows: Iterable[Window], estimator: Estimator, model: MotionModel
) -> Iterator[Estimate]:
    """Yield the estimates of windows in order.

    Each starts from the motion of the window ``N_LANES`` before it, or of the last one before that
    with a motion; :func:`evcrisp.track` takes the very one before, and so has to wait for it. Until
    a motion is found there is nothing to start from, and windows come one after the other.
    """
    history: HotHistory | None = None
    theta: NDArray[np.float64] | None = None
    lanes = [_Lane() for _ in range(N_LANES)]
    idle, busy = list(lanes), deque[_Lane]()
    try:
        for window in windows:
            history = history or HotHistory(window.events.resolution)
            hot = history.mark(window)
            while busy and (not idle or theta is None):
                idle.append(busy.popleft())
                result = idle[-1].result()
                theta = result.theta if result.status.is_usable else theta
                yield result
            busy.append(idle.pop())
            busy[-1].start(run_without, estimator, window, model, theta, hot)
        while busy:
            yield busy.popleft().result()
    finally:
        for lane in lanes:
            lane.end()


class _Lane:
    """A thread that does one thing after the other."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[tuple[Any, ...] | None] = SimpleQueue()
        self._answers: SimpleQueue[Any] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="evcrisp-lane", daemon=True)
        self._thread.start()

    def start(self, call: Callable[..., Estimate], *arguments: Any) -> None:
        self._tasks.put((call, *arguments))

    def result(self) -> Estimate:
        """Wait for the answer; raise what the call raised."""
        answer = self._answers.get()
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def end(self) -> None:
        self._tasks.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            try:
                self._answers.put(task[0](*task[1:]))
            except BaseException as error:
                self._answers.put(error)
