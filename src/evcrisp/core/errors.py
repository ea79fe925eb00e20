"""Errors that evcrisp raises on purpose.

::

    EvError
    ├── EventDataError(ValueError)      invalid events: length, order, range
    ├── ConfigError(ValueError)         an invalid setting
    ├── UnknownNameError(LookupError)   an unknown format, filter, motion model, ...
    ├── FormatError(ValueError)         a file that does not follow its format
    ├── OutputError(OSError)            an output that was not written
    └── MissingExtraError(ImportError)  an optional package is not installed
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evcrisp.core.messages import shown

#: Characters of the reason of a `FormatError`; ours are shorter.
_REASON_CHARACTERS = 1000


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
    """Remedy for an error: an action, and the parameter (and value) that bring it about.

    Log messages take one as an argument too, so that the command line can name its option.

    >>> print(Setting("Keep the events before the damage", "on_error", "truncate"))
    Keep the events before the damage with `on_error='truncate'`.
    >>> print(Setting("If this is wrong, set the sensor size", "resolution"))
    If this is wrong, set the sensor size with `resolution`.
    """

    action: str
    parameter: str
    value: object = NOT_GIVEN

    def __str__(self) -> str:
        value = "" if self.value is NOT_GIVEN else f"={self.value!r}"
        return f"{self.action} with `{self.parameter}{value}`."


class EvError(Exception):
    """Base of all errors that evcrisp raises on purpose.

    Parameters
    ----------
    problem : str
        A whole sentence; or, with ``parameter``, the requirement, such as "must be positive".
    parameter : str or tuple of str, optional
        Name of the wrong argument or configuration field; several if they conflict.
    value : object, optional
        The value that was given.
    remedy : str or Setting, optional
        What to do, as a sentence.

    Examples
    --------
    >>> print(ConfigError("must be positive", parameter="tau_us", value=-5, remedy="Give 1000."))
    `tau_us` must be positive; got -5. Give 1000.
    >>> print(ConfigError("exclude each other", parameter=("window_us", "window_events")))
    `window_us` and `window_events` exclude each other.
    """

    def __init__(
        self,
        problem: str = "",
        *,
        parameter: str | tuple[str, ...] | None = None,
        value: object = NOT_GIVEN,
        remedy: str | Setting | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.parameter = parameter
        self.value = value
        self.remedy = remedy

    def __str__(self) -> str:
        return self.text(lambda parameter: f"`{parameter}`", str)

    def text(self, name_of: NameOf, remedy_text: Callable[[Setting], str]) -> str:
        """Return the message with parameters and remedies named for its reader."""
        text = self.problem
        if self.parameter is not None:
            names = (self.parameter,) if isinstance(self.parameter, str) else self.parameter
            got = "" if self.value is NOT_GIVEN else f"; got {self.value!r}"
            text = f"{' and '.join(map(name_of, names))} {text}{got}."
        if self.remedy is None:
            return text
        remedy = self.remedy if isinstance(self.remedy, str) else remedy_text(self.remedy)
        return f"{text} {remedy}"


class EventDataError(EvError, ValueError):
    """Events that :class:`evcrisp.Events` does not accept."""


class ConfigError(EvError, ValueError):
    """An invalid setting."""


class UnknownNameError(EvError, LookupError):
    """A name that is in no registry."""


class OutputError(EvError, OSError):
    """An output that was not written."""


class FormatError(EvError, ValueError):
    """A file that does not follow its format.

    Parameters
    ----------
    reason : str
        What is wrong, as a clause without a period.
    path : Path, optional
        The file.
    offset, n_before : int
        Byte of the file at which the damage was noticed, and number of events before it.
    partial : object, optional
        IMU samples or triggers that were read before the damage.
    remedy : str or Setting, optional
        What to do. Default: keep the events before the damage, if there are any.

    Examples
    --------
    >>> print(FormatError("packet size is negative", offset=120, path=Path("a.aedat4"), n_before=7))
    a.aedat4: packet size is negative (byte 120, after 7 events). Keep the events before the damage with `on_error='truncate'`.
    """

    def __init__(
        self,
        reason: str,
        *,
        offset: int = 0,
        path: Path | None = None,
        n_before: int = 0,
        partial: Any = None,
        remedy: str | Setting | None = None,
    ) -> None:
        # Names and texts of a file must not control a terminal, or fill it.
        reason = shown(reason, _REASON_CHARACTERS)
        super().__init__(reason, remedy=remedy)
        self.reason = reason
        self.offset = int(offset)
        self.path = path
        self.n_before = int(n_before)
        self.partial = partial
        self.beside: str | None = None  # the damaged sensor data, if it is not the events

    def text(self, name_of: NameOf, remedy_text: Callable[[Setting], str]) -> str:
        """Return the message with file, place and remedy."""
        place = f"after {self._events()}" if self.beside is None else f"in the {self.beside}"
        where = f" (byte {self.offset}, {place})"
        if not self.offset and self.path is not None and self.path.is_dir():  # it has no bytes
            where = f" ({place})" if self.n_before or self.beside is not None else ""
        text = f"{self._name()}{self.reason}{where}."
        remedy = self.remedy
        if remedy is None and (self.n_before or self.beside is not None):
            kept = "events" if self.beside is None else "data"
            remedy = Setting(f"Keep the {kept} before the damage", "on_error", "truncate")
        if remedy is None:
            return text
        return f"{text} {remedy if isinstance(remedy, str) else remedy_text(remedy)}"

    def kept(self) -> str:
        """Return the message of a read that ended at the damage and kept what came before."""
        kept = f"the {self._events()}" if self.beside is None else f"the {self.beside}"
        return f"{self._name()}{self.reason} (byte {self.offset}); kept {kept} before it."

    def _events(self) -> str:
        return f"{self.n_before} event{'' if self.n_before == 1 else 's'}"

    def _name(self) -> str:
        return "" if self.path is None else f"{self.path}: "

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with the keywords, to pass between processes."""
        where = {"offset": self.offset, "path": self.path, "n_before": self.n_before}
        return functools.partial(FormatError, **where, remedy=self.remedy), (self.reason,)

    def located(self, path: Path, n_before: int) -> "FormatError":
        """Return the same error with the file and the number of events before it."""
        return FormatError(
            self.reason, offset=self.offset, path=path, n_before=n_before, remedy=self.remedy
        )


class MissingExtraError(EvError, ImportError):
    """An optional package is not installed.

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
        """Pickle with the keywords, to pass between processes."""
        return functools.partial(MissingExtraError, extra=self.extra, purpose=self.purpose), (
            self.package,
        )
