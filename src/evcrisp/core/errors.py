"""Everything that evcrisp raises on purpose.

::

    EvError
    ├── EventDataError(ValueError)      events that break the contract: length, order, range
    ├── ConfigError(ValueError)         a setting that cannot be
    ├── UnknownNameError(LookupError)   no such format, filter, motion model
    ├── FormatError(ValueError)         a file that does not follow its format
    ├── OutputError(OSError)            a result that cannot be put where it was asked for
    └── MissingExtraError(ImportError)  an optional package is not installed
"""

import functools
from pathlib import Path
from typing import Any


class EvError(Exception):
    """Base of all errors that evcrisp raises on purpose."""


class EventDataError(EvError, ValueError):
    """Events that break the contract of :class:`evcrisp.Events`."""


class ConfigError(EvError, ValueError):
    """A setting that cannot be."""


class UnknownNameError(EvError, LookupError):
    """A name that no registry has."""


class OutputError(EvError, OSError):
    """A result that cannot be put where it was asked for."""


class FormatError(EvError, ValueError):
    """A file that does not follow its format.

    Parameters
    ----------
    reason : str
        What is wrong, as a clause without a period.
    offset : int
        Byte of the file at which the damage was noticed.
    path : Path, optional
        The file.
    n_before : int
        Number of events that came before the damage.
    partial : object, optional
        What a reader of a whole stream (IMU samples, triggers) had when it met the damage.

    Examples
    --------
    >>> print(FormatError("packet size is negative", offset=120, path=Path("a.aedat4"), n_before=7))
    a.aedat4: packet size is negative (byte 120, after 7 events). Keep what came before with on_error="truncate".
    """

    def __init__(
        self,
        reason: str,
        *,
        offset: int = 0,
        path: Path | None = None,
        n_before: int = 0,
        partial: Any = None,
    ) -> None:
        self.reason = reason
        self.offset = int(offset)
        self.path = path
        self.n_before = int(n_before)
        self.partial = partial
        self.beside: str | None = None  # what is damaged, if it is not the events
        super().__init__(reason)

    def __str__(self) -> str:
        hint = ' Keep what came before with on_error="truncate".'
        if self.beside is not None:
            return f"{self._name()}{self.reason} (byte {self.offset}, in the {self.beside}).{hint}"
        after = f"byte {self.offset}, after {self._events()}"
        return f"{self._name()}{self.reason} ({after}).{hint if self.n_before else ''}"

    def kept(self) -> str:
        """Say what is wrong and what was kept, for reads that go on after damage."""
        kept = f"the {self._events()}" if self.beside is None else f"the {self.beside}"
        return f"{self._name()}{self.reason} (byte {self.offset}); kept {kept} before it."

    def _events(self) -> str:
        return f"{self.n_before} event{'' if self.n_before == 1 else 's'}"

    def _name(self) -> str:
        return "" if self.path is None else f"{self.path}: "

    def __reduce__(self) -> tuple[Any, ...]:
        """Let it travel between processes."""
        where = {"offset": self.offset, "path": self.path, "n_before": self.n_before}
        return functools.partial(FormatError, **where), (self.reason,)

    def located(self, path: Path, n_before: int) -> "FormatError":
        """Return the same complaint with the file and the number of events before it."""
        return FormatError(self.reason, offset=self.offset, path=path, n_before=n_before)


class MissingExtraError(EvError, ImportError):
    """An optional package is not installed.

    Examples
    --------
    >>> print(MissingExtraError("h5py", extra="hdf5", purpose="HDF5 recordings"))
    HDF5 recordings need the package 'h5py'. Install it with: pip install "evcrisp[hdf5]"
    """

    def __init__(self, package: str, *, extra: str | None, purpose: str) -> None:
        self.package = package
        self.extra = extra
        self.purpose = purpose
        target = package.replace("_", "-") if extra is None else f'"evcrisp[{extra}]"'
        super().__init__(
            f"{purpose} need the package {package!r}. Install it with: pip install {target}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Let it travel between processes."""
        return functools.partial(MissingExtraError, extra=self.extra, purpose=self.purpose), (
            self.package,
        )
