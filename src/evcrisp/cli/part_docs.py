"""Explain a filter or a method in words, from the docstring of its class."""

import inspect
import re
from collections.abc import Iterable
from dataclasses import dataclass

_SECTION = re.compile(r"^(\w+)\n-{3,}\n", re.MULTILINE)
_ENTRY = re.compile(r"^(\w+(?:, \w+)*)(?: : .*)?\n((?:    .*\n?|\n)*)", re.MULTILINE)
_SAME = re.compile(r"As in :class:`(\w+)`")
_ROLE = re.compile(r":(?:class|func|mod|meth|doc):`~?([^`]*)`")
_MATH = re.compile(r":math:`([^`]*)`|\.\. math::[ \n]")

#: Unit by the end of the name of a parameter.
_UNITS = {"_px_ms": "px/ms", "_us": "us", "_px": "px", "_hz": "Hz", "_deg": "degrees"}
#: Unit at the end of a phrase of its description.
_UNIT = re.compile(r", (us|px|px/ms|px of the sensor|s)(?=[.,;]|$)")


@dataclass(frozen=True, slots=True)
class PartDoc:
    """What a docstring says: the rule, the parameters by name, and the references."""

    rule: tuple[str, ...]  # paragraphs
    parameters: dict[str, str]
    references: tuple[str, ...]


def read_doc(kind: type, others: Iterable[type] = ()) -> PartDoc:
    """Return the documentation of a class; parameters "as in" one of the others are looked up."""
    by_name = {other.__name__: other for other in others}
    sections = _sections(kind)
    parameters: dict[str, str] = {}
    for base in kind.__mro__[:-1]:  # parameters of base classes are documented there
        for name, text in _parameters(base, by_name).items():
            parameters.setdefault(name, text)
    return PartDoc(
        _paragraphs(sections.get("", "")), parameters, _paragraphs(sections.get("References", ""))
    )


def unit_of(name: str, text: str) -> str:
    """Return the unit of a parameter; empty for numbers without one.

    >>> unit_of("tau_us", "Maximum age."), unit_of("radius", "Distance in x, px."), unit_of("k", "Count.")
    ('us', 'px', '')
    """
    for ending, unit in _UNITS.items():
        if name.endswith(ending):
            return unit
    found = _UNIT.search(text)
    return "" if found is None else found[1]


def plain(text: str) -> str:
    r"""Return a text without the marks of reStructuredText.

    >>> plain("The score is :math:`\\tau / (\\tau + \\mathrm{age})`; see :class:`Baf` and ``k=2``.")
    'The score is tau / (tau + age); see Baf and k=2.'
    """
    text = _MATH.sub(lambda found: _math(found[1] or ""), text)
    text = _ROLE.sub(lambda found: found[1].removeprefix("evcrisp.filters."), text)
    return re.sub(r"\s+", " ", text.replace("``", "")).strip()


def _math(formula: str) -> str:
    r"""Return a formula as plain text.

    >>> _math(r"\\frac{1}{2} \\sqrt{a^2}"), _math(r"w_{ij}")
    ('(1) / (2) sqrt(a^2)', 'w_ij')
    """
    formula = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"(\1) / (\2)", formula)
    formula = re.sub(r"\\(?:mathrm|mathbf|text|operatorname)\{([^{}]*)\}", r"\1", formula)
    formula = re.sub(r"\\sqrt\{([^{}]*)\}", r"sqrt(\1)", formula)
    formula = re.sub(r"\\[,;! ]|\\q?quad", " ", formula)
    return re.sub(r"[{}\\]", "", formula)


def _sections(kind: type) -> dict[str, str]:
    """Return the sections of a docstring by title; the text before them has an empty title."""
    text = inspect.cleandoc(kind.__doc__ or "")
    if text.startswith(f"{kind.__name__}("):  # a dataclass without a docstring has its signature
        text = ""
    parts = _SECTION.split(text + "\n")
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def _parameters(kind: type, others: dict[str, type]) -> dict[str, str]:
    found: dict[str, str] = {}
    for names, body in _ENTRY.findall(_sections(kind).get("Parameters", "")):
        same = _SAME.search(body)
        known = _parameters(others[same[1]], others) if same and same[1] in others else {}
        for name in names.split(", "):
            found[name] = known.get(name) or plain(body)
    return found


def _paragraphs(text: str) -> tuple[str, ...]:
    return tuple(plain(part) for part in re.split(r"\n\s*\n", text) if part.strip())
