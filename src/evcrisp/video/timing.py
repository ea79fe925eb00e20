"""Frame durations in whole units of a file format, without drift from the frame rate."""


class Durations:
    """Durations of consecutive frames.

    Examples
    --------
    At 30 frames per second a frame lasts 3.33 hundredths of a second.

    >>> durations = Durations(30.0, units_per_s=100, shortest=2)
    >>> [durations.next() for _ in range(6)]
    [3, 4, 3, 3, 4, 3]
    """

    def __init__(self, fps: float, *, units_per_s: int, shortest: int) -> None:
        self._units = units_per_s / fps
        self._shortest = shortest
        self._n_frames = 0
        self._end = 0

    def next(self) -> int:
        """Return the duration of the next frame."""
        self._n_frames += 1
        duration = max(round(self._n_frames * self._units) - self._end, self._shortest)
        self._end += duration
        return duration
