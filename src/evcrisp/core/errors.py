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
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class _NotGiven:
    """Marks an error without a value; None can be a wrong value."""

    def __repr__(self) -> str:
        return "NOT_GIVEN"

    def __reduce__(self) -> str:
        return "NOT_GIVEN"


NOT_GIVEN = _NotGiven()

#: Names a parameter for a reader: of the library, or of the command line.
NameOf = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Setting:
    """Remedy for an error: an action, and the parameter and value that bring it about.

    Examples
    --------
    >>> Setting("Keep the events before the damage", "on_error", "truncate").text()
    "Keep the events before the damage with `on_error='truncate'`."
    """

    action: str
    parameter: str
    value: object

    def text(self) -> str:
        """Return the remedy as a sentence for users of the library."""
        return f"{self.action} with `{self.parameter}={self.value!r}`."


class EvError(Exception):
    """Base of all errors that evcrisp raises on purpose.

    Parameters
    ----------
    problem : str
        A whole sentence; or, with ``parameter``, what the parameter must be, such as
        "must be positive".
    parameter : str, optional
        Name of the wrong argument or configuration field.
    value : object, optional
        The value that was given.
    remedy : str or Setting, optional
        What to do, as a sentence.

    Examples
    --------
    >>> print(ConfigError("must be positive", parameter="tau_us", value=-5, remedy="Give 1000."))
    `tau_us` must be positive; got -5. Give 1000.
    """

    def __init__(
        self,
        problem: str = "",
        *,
        parameter: str | None = None,
        value: object = NOT_GIVEN,
        remedy: str | Setting | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.parameter = parameter
        self.value = value
        self.remedy = remedy

    def __str__(self) -> str:
        return self.text(lambda parameter: f"`{parameter}`", Setting.text)

    def text(self, name_of: NameOf, remedy_text: Callable[[Setting], str]) -> str:
        """Return the message with parameters and remedies named for its reader."""
        text = self.problem
        if self.parameter is not None:
            got = "" if self.value is NOT_GIVEN else f"; got {self.value!r}"
            text = f"{name_of(self.parameter)} {text}{got}."
        if self.remedy is None:
            return text
        remedy = self.remedy if isinstance(self.remedy, str) else remedy_text(self.remedy)
        return f"{text} {remedy}"


class EventDataError(EvError, ValueError):
    """Events that break the contract of :class:`evcrisp.Events`."""


class ConfigError(EvError, ValueError):
    """A setting that is not possible."""


class UnknownNameError(EvError, LookupError):
    """A name that no registry has."""


class OutputError(EvError, OSError):
    """A result that cannot be written where it was requested."""


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
