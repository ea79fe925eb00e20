"""Pages about filters and methods: wrapped entries, parameters with their defaults and meaning."""

import inspect
import shutil
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from evcrisp.cli.part_docs import read_doc, unit_of

#: Types of parameters that --set can give.
_PLAIN = (bool, int, float, str)

#: Minimum width, columns; below it most words would not fit on a line.
_MIN_COLUMNS = 40


def entry(title: str, lines: Iterable[str]) -> str:
    """Return a title and indented lines below it, wrapped."""
    parts = [_wrapped(title, ""), *(_wrapped(line, "    ") for line in lines)]
    return "\n".join(parts)


def paragraph(text: str) -> str:
    """Return a text wrapped to the width of the terminal."""
    return _wrapped(text, "", 0)


def parameters_line(parameters: Mapping[str, object]) -> str:
    """Return the parameters with their defaults, such as ``tau_us=5000``."""
    return f"parameters: {settings(parameters) or 'none'}"


def settings(parameters: Mapping[str, object]) -> str:
    """Return parameters with their values, as for ``--set``."""
    return " ".join(f"{name}={_word(value)}" for name, value in parameters.items())


def parameter_facts(kind: type, others: Iterable[type]) -> dict[str, Any]:
    """Return the rule, the parameters and the references of a part as JSON types.

    ``others`` are parts whose parameters the documentation may refer to.
    """
    doc = read_doc(kind, others)
    parameters = inspect.signature(kind).parameters
    return {
        "rule": list(doc.rule),
        "parameter_docs": {
            name: {
                "default": None if parameter.default is parameter.empty else parameter.default,
                "is_plain": is_plain(parameter),
                "unit": unit_of(name, doc.parameters.get(name, "")),
                "meaning": doc.parameters.get(name, ""),
            }
            for name, parameter in parameters.items()
        },
        "references": list(doc.references),
    }


def is_plain(parameter: inspect.Parameter) -> bool:
    """Return whether ``--set`` can give a parameter: a number, a word, or true and false."""
    if parameter.default is None:
        kinds = set(get_args(parameter.annotation)) - {type(None)}
        return bool(kinds) and bool(kinds & set(_PLAIN))
    return isinstance(parameter.default, _PLAIN)


def explanation(facts: Mapping[str, Any], use: str) -> str:
    """Return the rule and the parameters of a part; ``use`` is how to set them."""
    first, *rest = facts["rule"] or ("",)
    head = _wrapped(f"{facts['name']}: {first}".removesuffix(": "), "")
    title = "\n\n".join([head, *map(paragraph, rest)])
    known = facts["parameter_docs"].items()
    rows = [
        (f"{name} = {_word(row['default'])} {row['unit']}".rstrip(), row["meaning"])
        for name, row in known
        if row["is_plain"]
    ]
    others = [name for name, row in known if not row["is_plain"]]
    more = [_wrapped(f"In Python also: {', '.join(others)}.", "")] if others else []
    if not rows:
        return "\n".join([title, "", "Parameters: none", *more])
    lines = [f"{_wrapped(head, '    ')}\n{_wrapped(text, ' ' * 8, 0)}" for head, text in rows]
    return "\n".join([title, "", _wrapped(f"Parameters ({use})", ""), *lines, *more])


def _wrapped(text: str, indent: str, hanging: int = 4) -> str:
    width = max(shutil.get_terminal_size().columns, _MIN_COLUMNS)
    return textwrap.fill(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent + " " * hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _word(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else str(value)
