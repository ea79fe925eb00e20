"""Look a part up by name, or say which names there are."""

import difflib
import importlib
import inspect
from collections.abc import Mapping
from types import ModuleType
from typing import TypeVar

from evcrisp.errors import ConfigError, MissingExtraError, UnknownNameError

T = TypeVar("T")


def lookup(table: Mapping[str, T], name: str, what: str) -> T:
    """Return ``table[name]``, or raise with the names that exist."""
    try:
        return table[name]
    except KeyError:
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
    return kind(**options)


def require(package: str, *, extra: str | None, purpose: str) -> ModuleType:
    """Import an optional package, or raise with the extra (or the package) to install."""
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        raise MissingExtraError(package.partition(".")[0], extra=extra, purpose=purpose) from error
