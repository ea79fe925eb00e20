"""Digests of code, so that results of other code are not reused."""

import functools
import hashlib
import inspect
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import FunctionType
from typing import Any

import evcrisp
from evcrisp.core.registry import Registry
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.filters.registry import FILTERS
from evcrisp.objectives.registry import OBJECTIVES

#: Code that a digest of the sources of evcrisp, or the version of Python, stands for.
_KNOWN_PACKAGES = {"evcrisp", "numpy", *sys.stdlib_module_names}

#: Suffixes of compiled modules, without ".so", which plain libraries have too.
_COMPILED = EXTENSION_SUFFIXES[:-1]

#: Time of the import of this module, s since 1970; files that are newer are not yet imported.
_STARTED = time.time()

#: Registries whose names a configuration can hold, such as ``Sequential(filter="mine")``.
_REGISTRIES: tuple[Registry[Any], ...] = (ESTIMATORS, FILTERS, OBJECTIVES)


@functools.cache
def source_digest() -> str:
    """Return a digest of the sources of evcrisp."""
    root = Path(evcrisp.__file__).parent
    named = ((path.relative_to(root).as_posix(), path) for path in _files(root, (".py",)))
    return _digest(name.encode() + path.read_bytes() for name, path in named)[:16]


def code_digest(part: object) -> str | None:
    """Return a digest of the code from outside evcrisp that a configured part uses.

    The attributes of the part are searched for further objects, functions and registered names. A
    class that declares a ``version`` is identified by it; others by their source, the modules of
    their base classes, and all modules of the package of the part. Empty if all code belongs to
    evcrisp; None if a source is not available, or was edited while this process runs.
    """
    digests = [_part_digest(value, value is part) for value in _outside_parts(part)]
    if None in digests:
        return None
    return _digest(str(digest).encode() for digest in digests)[:16] if digests else ""


def _outside_parts(value: Any, seen: tuple[int, ...] = ()) -> Iterator[Any]:
    """Yield the objects, classes and functions from outside evcrisp within a value."""
    if id(value) in seen:
        return
    seen = (*seen, id(value))
    if isinstance(value, str):
        found = [table[value] for table in _REGISTRIES if value in table]
        yield from (part for part in found if _is_outside(part))
    elif isinstance(value, (Mapping, list, tuple, set, frozenset)):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _outside_parts(item, seen)
    elif isinstance(value, (type, FunctionType)):
        if _is_outside(value):
            yield value
    else:
        if _is_outside(type(value)):
            yield value
        yield from _outside_parts(attributes_of(value), seen)


def attributes_of(part: Any) -> dict[str, Any]:
    """Return the fields of a dataclass, or the attributes of another object."""
    if is_dataclass(part):
        return {field.name: getattr(part, field.name) for field in fields(part)}
    return dict(vars(part)) if _is_outside(type(part)) and hasattr(part, "__dict__") else {}


def _is_outside(code: Any) -> bool:
    kind = code if isinstance(code, (type, FunctionType)) else type(code)
    return kind.__module__.partition(".")[0] not in _KNOWN_PACKAGES


def _part_digest(part: Any, with_package: bool) -> str | None:
    kind = part if isinstance(part, (type, FunctionType)) else type(part)
    version = getattr(part, "version", None)
    if isinstance(version, (str, int)) and not isinstance(version, bool):
        return f"{kind.__module__}.{kind.__qualname__} version {version}"
    bases = [base for base in getattr(kind, "__mro__", (kind,)) if _is_outside(base)]
    try:
        sources = [inspect.getsource(base).encode() for base in bases]
        files = [Path(inspect.getfile(base)) for base in bases]
        files += _modules_of_package(kind.__module__) if with_package else []
        # The code in memory is older than a file that was edited after its import.
        if any(file.stat().st_mtime > _STARTED for file in files):
            return None
        return _digest([*sources, *(file.read_bytes() for file in files)])
    except (OSError, TypeError):
        return None


def _modules_of_package(module: str) -> list[Path]:
    package = sys.modules.get(module.partition(".")[0])
    file = getattr(package, "__file__", None)
    if file is None or not hasattr(package, "__path__"):
        return []
    return _files(Path(file).parent, (".py", *_COMPILED))


def _files(root: Path, suffixes: tuple[str, ...]) -> list[Path]:
    found = (path for path in root.rglob("*") if path.name.endswith(suffixes))
    return sorted(path for path in found if path.is_file())


def _digest(blocks: Iterable[bytes]) -> str:
    return hashlib.sha256(b"".join(blocks)).hexdigest()
