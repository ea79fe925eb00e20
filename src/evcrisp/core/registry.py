"""Registries: parts by name, built in, registered at run time, or from installed packages."""

import dataclasses
import difflib
import importlib
import inspect
import logging
import numbers
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_args

import numpy as np

from evcrisp.core.errors import ConfigError, MissingExtraError, UnknownNameError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_LOG = logging.getLogger(__name__)

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """Parts of one kind by name. A built-in part is imported when it is first looked up.

    Parameters
    ----------
    kind : str
        What the parts are, for messages: "filter".
    parts : mapping of str to str
        Built-in parts: name to "module:attribute", in the order of lists.
    group : str, optional
        Group of entry points through which installed packages add parts: "evcrisp.filters".
    calls : bool
        Whether the attribute is called without arguments to make the part.
    related : (str, str), optional
        Another registry as "module:attribute", and what to do with its names, for messages.

    Examples
    --------
    >>> numbers = Registry("number type", {"fraction": "fractions:Fraction"})
    >>> numbers["fraction"](1, 2)
    Fraction(1, 2)
    >>> list(numbers)
    ['fraction']
    """

    def __init__(
        self,
        kind: str,
        parts: Mapping[str, str],
        *,
        group: str | None = None,
        calls: bool = False,
        related: tuple[str, str] | None = None,
    ) -> None:
        self.kind = kind
        self.group = group
        self._related = related
        self._calls = calls
        self._paths = dict(parts)
        self._loaded: dict[str, T] = {}
        self._entry_points: dict[str, EntryPoint] | None = None

    def __getitem__(self, name: str) -> T:
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        names = (*self._paths, *self._loaded, *self._installed())
        return iter(dict.fromkeys(name for name in names if not self._is_broken(name)))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name in self._paths or name in self._loaded or name in list(self)

    def register(self, part: T, name: str | None = None, *, overwrite: bool = False) -> T:
        """Add a part under its ``name``, or another one that is not taken; return it."""
        name = getattr(part, "name", None) if name is None else name
        if not isinstance(name, str) or not name:
            raise ConfigError(
                f"A {self.kind} needs a `name`, a string; got {name!r}. Define it as a class attribute."
            )
        if name in self and not overwrite and self._loaded.get(name) is not part:
            raise ConfigError(
                f"There is a {self.kind} {name!r} already. Choose another name, or give `overwrite=True`."
            )
        self._loaded[name] = part
        return part

    def unregister(self, name: str) -> None:
        """Remove a registered part; a built-in part of that name comes back."""
        self._loaded.pop(name, None)

    def hint(self, name: str) -> str:
        """Return where an unknown name belongs: to the related registry, or to a similar name."""
        if self._related is not None:
            module, _, attribute = self._related[0].partition(":")
            other: Registry[Any] = getattr(importlib.import_module(module), attribute)
            if name in other:
                return f" It is a {other.kind}: {self._related[1]}"
        return _similar(name, self)

    def _load(self, name: str) -> T:
        if name in self._paths:
            module, _, attribute = self._paths[name].partition(":")
            part = getattr(importlib.import_module(module), attribute)
        elif name in self._installed():
            part = self._installed()[name].load()
        else:
            raise KeyError(name)
        return part() if self._calls and isinstance(part, type) else part

    def _installed(self) -> "dict[str, EntryPoint]":
        """Return the entry points of installed packages; built-in names win."""
        if self._entry_points is None:
            from importlib.metadata import entry_points  # not needed by most programs

            found = () if self.group is None else entry_points(group=self.group)
            self._entry_points = {p.name: p for p in found if p.name not in self._paths}
        return self._entry_points

    def _is_broken(self, name: str) -> bool:
        """Load an installed part; log a warning and drop it if its package cannot be imported."""
        if name in self._paths or name in self._loaded:
            return False
        try:
            self[name]
        except Exception as error:
            where = self._installed().pop(name).value
            _LOG.warning(
                "The %s %r of an installed package (%s) is left out: %s: %s",
                self.kind, name, where, type(error).__name__, error,
            )  # fmt: skip
            return True
        return False


def lookup(table: Mapping[str, T], name: str, what: str) -> T:
    """Return ``table[name]``, or raise with the names that exist."""
    try:
        return table[name]
    except (KeyError, TypeError):
        name = str(name)
        raise UnknownNameError(
            f"Unknown {what} {name!r}.{_hint(name, table)} Known: {', '.join(sorted(table))}."
        ) from None


def build(table: Mapping[str, type[T]], part: str | type[T] | T, what: str, /, **options: Any) -> T:
    """Return a configured part: by name, as a class, or as an object that is ready.

    A name in ``table`` or a class is called with ``options``; an object takes none. ``what`` is the
    kind of the part, for messages. Raises `UnknownNameError` or `ConfigError` if the name or an option
    does not exist, or a value has the wrong type.
    """
    if not isinstance(part, (str, type)):
        if isinstance(part, (int, float, complex, bytes, list, tuple, dict, set)) or part is None:
            raise UnknownNameError(
                f"Unknown {what} {part!r}. Known: {', '.join(sorted(table))}; or give an object."
            )
        if options:
            raise ConfigError(
                f"The {what} is an object already; got the options {', '.join(sorted(options))} too. "
                f"Give them to `{type(part).__name__}(...)`."
            )
        return part
    kind = lookup(table, part, what) if isinstance(part, str) else part
    name = part if isinstance(part, str) else getattr(part, "name", part.__name__)
    parameters = _parameters_of(kind)
    for option in sorted(set(options) - set(parameters)):
        raise ConfigError(
            f"The {what} {name!r} has no option {option!r}.{_hint(option, parameters)} "
            f"Known: {', '.join(sorted(parameters)) or 'none'}."
        )
    missing = [p.name for p in parameters.values() if _is_required(p) and p.name not in options]
    if missing:
        raise ConfigError(f"The {what} {name!r} needs the option {missing[0]!r}.")
    # Numbers of numpy overflow for times of years, and lack methods of Python's numbers.
    plain = {k: v.item() if isinstance(v, np.generic) else v for k, v in options.items()}
    for option, value in plain.items():
        _check_type(what, name, option, value, parameters[option].default)
        _check_object(kind, f"The option {option!r} of the {what} {name!r}", option, value)
    return kind(**plain)


@lru_cache(maxsize=256)
def _parameters_of(kind: type) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a class; `estimate` needs them for every window."""
    return inspect.signature(kind).parameters


def _is_required(parameter: inspect.Parameter) -> bool:
    is_named = parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return is_named and parameter.default is parameter.empty


#: Types of parameters that a line of text can give.
_PLAIN = (bool, int, float, str)


def _check_object(kind: type, title: str, option: str, value: object) -> None:
    """Raise if something else is given in place of a configuration object or a mapping."""
    if not dataclasses.is_dataclass(kind):
        return
    found = {field.name: field for field in dataclasses.fields(kind)}.get(option)
    if found is None:
        return
    has_factory = found.default_factory is not dataclasses.MISSING
    default = found.default_factory() if has_factory else found.default
    if isinstance(default, Mapping) and not isinstance(value, Mapping):
        raise ConfigError(f"{title} must be a mapping; got {value!r}.")
    is_object = dataclasses.is_dataclass(value) and not isinstance(value, type)
    if dataclasses.is_dataclass(default) and not is_object:
        raise ConfigError(
            f"{title} must be an object, `{type(default).__name__}(...)`; got {value!r}. "
            "It can be set in Python only."
        )


def plain_parameters(kind: type) -> dict[str, Any]:
    """Return the parameters of a part that are numbers, texts or truth values, with their defaults.

    >>> class Part:
    ...     def __init__(self, k: int = 2, tau_us: int | None = None, maps: tuple = ()) -> None: ...
    >>> plain_parameters(Part)
    {'k': 2, 'tau_us': None}
    """
    parameters = inspect.signature(kind).parameters.values()
    return {p.name: p.default for p in parameters if _is_plain(p)}


def _is_plain(parameter: inspect.Parameter) -> bool:
    if parameter.default is None:
        kinds = set(get_args(parameter.annotation)) - {type(None)}
        return bool(kinds) and kinds <= set(_PLAIN)
    return isinstance(parameter.default, _PLAIN)


def _hint(name: str, known: Mapping[str, Any]) -> str:
    return known.hint(name) if isinstance(known, Registry) else _similar(name, known)


def _similar(name: str, known: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def _check_type(what: str, name: str, option: str, value: object, default: object) -> None:
    """Compare the type of a value with that of the default, where there is one."""
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
