"""Look a part up by name, or say which names there are."""

import difflib
import importlib
import inspect
import numbers
from collections.abc import Mapping
from types import ModuleType
from typing import TypeVar

import numpy as np

from evcrisp.core.errors import ConfigError, MissingExtraError, UnknownNameError

T = TypeVar("T")


def lookup(table: Mapping[str, T], name: str, what: str) -> T:
    """Return ``table[name]``, or raise with the names that exist."""
    try:
        return table[name]
    except (KeyError, TypeError):
        name = str(name)
        close = difflib.get_close_matches(name, table, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise UnknownNameError(
            f"Unknown {what} {name!r}.{hint} Known: {', '.join(sorted(table))}."
        ) from None


def configured(
    table: Mapping[str, type[T]], name: str, what: str, options: Mapping[str, object]
) -> T:
    """Build ``table[name](**options)``, or say which names or options there are."""
    kind = lookup(table, name, what)
    known = set(inspect.signature(kind).parameters)
    unknown = sorted(set(options) - known)
    if unknown:
        close = difflib.get_close_matches(unknown[0], known, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ConfigError(
            f"The {what} {name!r} has no option {unknown[0]!r}.{hint} "
            f"Known: {', '.join(sorted(known)) or 'none'}."
        )
    # A number of numpy has no room for times of years, and lacks methods of Python's numbers.
    plain = {k: v.item() if isinstance(v, np.generic) else v for k, v in options.items()}
    for option, value in plain.items():
        _check_kind(what, name, option, value, inspect.signature(kind).parameters[option].default)
    return kind(**plain)


def _check_kind(what: str, name: str, option: str, value: object, default: object) -> None:
    """Compare the kind of a value with that of the default, where there is one to compare with."""
    is_bool = isinstance(value, bool)
    fits = {
        bool: ("true or false", is_bool),
        int: ("a whole number", isinstance(value, numbers.Integral) and not is_bool),
        float: ("a number", isinstance(value, numbers.Real) and not is_bool),
        str: ("a word", isinstance(value, str)),
    }
    wanted, is_right = fits.get(type(default), ("", True))
    if not is_right:
        raise ConfigError(
            f"Option {option!r} of the {what} {name!r} must be {wanted}; got {value!r}."
        )


def require(package: str, *, extra: str | None, purpose: str) -> ModuleType:
    """Import an optional package, or raise with the extra (or the package) to install."""
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        raise MissingExtraError(package.partition(".")[0], extra=extra, purpose=purpose) from error
