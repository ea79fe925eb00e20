"""Look a part up by name, or say which names there are."""

import difflib
import importlib
from collections.abc import Mapping
from types import ModuleType
from typing import TypeVar

from evcrisp.errors import MissingExtraError, UnknownNameError

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


def require(package: str, *, extra: str, purpose: str) -> ModuleType:
    """Import an optional package, or raise with the extra that brings it."""
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        raise MissingExtraError(package.partition(".")[0], extra=extra, purpose=purpose) from error
