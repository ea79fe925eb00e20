"""Digests of code, so that results of other code are not reused."""

import functools
import hashlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
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

#: Registries whose names a configuration can hold, such as ``Sequential(filter="mine")``.
_REGISTRIES: tuple[Registry[Any], ...] = (ESTIMATORS, FILTERS, OBJECTIVES)


@functools.cache
def source_digest() -> str:
    """Return a digest of the sources of evcrisp."""
    return _digest(_tree(Path(evcrisp.__file__).parent, (".py",)))[:16]


def code_digest(part: object) -> str | None:
    """Return a digest of the code from outside evcrisp that a configured part uses.

    A class that declares a ``version`` is identified by it. Other classes are identified by their
    source, by all modules of their package, and by the modules of their base classes.

    Parameters
    ----------
    part : object
        A method; its attributes are searched for further objects, functions and registered names.

    Returns
    -------
    str or None
        Empty if all code belongs to evcrisp. None if a source cannot be read, such as that of a
        class of an interactive session.
    """
    digests = [_part_digest(value) for value in _outside_parts(part)]
    if None in digests:
        return None
    return _digest(str(digest).encode() for digest in digests)[:16] if digests else ""


def _outside_parts(value: Any) -> Iterator[Any]:
    """Yield the objects, classes and functions from outside evcrisp within a value."""
    if isinstance(value, str):
        found = [table[value] for table in _REGISTRIES if value in table]
        yield from (part for part in found if _is_outside(part))
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _outside_parts(item)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from _outside_parts(item)
    elif isinstance(value, (type, FunctionType)):
        if _is_outside(value):
            yield value
    else:
        if _is_outside(type(value)):
            yield value
        yield from _outside_parts(attributes_of(value))


def attributes_of(part: Any) -> dict[str, Any]:
    """Return the fields of a dataclass, or the attributes of another object."""
    if is_dataclass(part):
        return {field.name: getattr(part, field.name) for field in fields(part)}
    return dict(vars(part)) if _is_outside(type(part)) and hasattr(part, "__dict__") else {}


def _is_outside(code: Any) -> bool:
    kind = code if isinstance(code, (type, FunctionType)) else type(code)
    return kind.__module__.partition(".")[0] not in _KNOWN_PACKAGES


def _part_digest(part: Any) -> str | None:
    kind = part if isinstance(part, (type, FunctionType)) else type(part)
    version = getattr(part, "version", None)
    if isinstance(version, (str, int)) and not isinstance(version, bool):
        return f"{kind.__module__}.{kind.__qualname__} version {version}"
    return _source_of(kind)


# Cached per class: a file that is edited after its import does not change the code that runs.
@functools.cache
def _source_of(kind: type | Callable[..., Any]) -> str | None:
    """Return a digest of the source of a class or function; None if unreadable."""
    bases = inspect.getmro(kind) if isinstance(kind, type) else (kind,)
    try:
        blocks = [block for base in bases if _is_outside(base) for block in _blocks(base)]
    except (OSError, TypeError):
        return None
    return _digest([*blocks, *_package(kind)])


def _blocks(kind: Any) -> Iterator[bytes]:
    yield inspect.getsource(kind).encode()
    yield Path(inspect.getfile(kind)).read_bytes()


def _package(kind: Any) -> Iterator[bytes]:
    """Yield the files of the package that a class or function belongs to."""
    package = sys.modules.get(kind.__module__.partition(".")[0])
    file = getattr(package, "__file__", None)
    if file is not None and hasattr(package, "__path__"):
        yield from _tree(Path(file).parent, (".py", *_COMPILED))


def _tree(root: Path, suffixes: tuple[str, ...]) -> Iterator[bytes]:
    for path in sorted(root.rglob("*")):
        if path.name.endswith(suffixes) and path.is_file():
            yield path.relative_to(root).as_posix().encode() + path.read_bytes()


def _digest(blocks: Any) -> str:
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(block)
    return digest.hexdigest()
