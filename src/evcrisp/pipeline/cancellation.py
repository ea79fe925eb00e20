"""Cancel a run between two windows, so that finished windows are kept."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class CancellationToken:
    """Request to end a run early. Finished windows are kept and written completely.

    `cancel` may be called from a signal handler: it interrupts reading and estimating, but not the
    writing of a window, unless it is called again.
    """

    is_requested: bool = False
    was_cut: bool = False  # whether windows are missing
    _is_writing: bool = False

    def cancel(self) -> None:
        """Request the end; the second request interrupts writing too."""
        again, self.is_requested = self.is_requested, True
        if again or not self._is_writing:
            raise KeyboardInterrupt

    def until_cancelled(self, items: Iterator[T]) -> Iterator[T]:
        """Yield items until the end is requested; the caller writes each before the next."""
        item: T | None = None
        while not self.was_cut:
            try:
                self._is_writing = False
                item = None if self.is_requested else next(items, None)
                self.was_cut = self.is_requested
            except KeyboardInterrupt:
                self.is_requested = self.was_cut = True
                return
            finally:
                self._is_writing = True
            if item is None:
                return
            yield item
