"""Parse the part of YAML that calibration files use; everything else is an error with its line.

Supported: nested mappings and lists by indentation, ``[...]`` and ``{...}`` over several lines, quoted
and plain words, numbers, comments, directives and the first of several documents. Tags are ignored.
"""

import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from evcrisp.core.errors import ConfigError

#: Deepest nesting; calibrations have four levels.
_MAX_DEPTH = 20

# Unlike in YAML 1.1, an exponent needs no decimal point: programs write 1e-05.
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_SPECIAL = re.compile(r"([-+]?)\.(inf|nan)", re.IGNORECASE)
_QUOTED = re.compile(r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')""")
_KEY = re.compile(
    rf"""({_QUOTED.pattern}\s*|[^\s\[\]{{}},'"#&*!|>%@`:-][^:\[\]{{}},#]*|-[^\s:][^:]*):(?=\s|$)"""
)
_TOKEN = re.compile(
    rf"""{_QUOTED.pattern}|[\[\]{{}},]|(?<=["']):|:(?=\s|$)|(?:(?!:(?:\s|$))[^\[\]{{}},'"])+"""
)
_TAG = re.compile(r"![^\s,\[\]{}]*\s*")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}


class _Line(NamedTuple):
    number: int
    indent: int
    text: str


def parse_yaml(text: str) -> Any:
    r"""Return the content of the first document: mappings, lists, numbers and words.

    >>> parse_yaml("cam0:\n  intrinsics: [200, 2e2,\n    120.5, 90]  # px\n  model: pinhole\n")
    {'cam0': {'intrinsics': [200, 200.0, 120.5, 90], 'model': 'pinhole'}}
    """
    lines = list(_joined(_lines(text)))
    if not lines:
        return None
    if len(lines) == 1 and lines[0].text[0] in "[{":
        return _flow(lines[0])
    value, end = _block(lines, 0, lines[0].indent, 0)
    if end < len(lines):
        raise _error(lines[end], "is indented differently from the lines before it")
    return value


def _error(line: _Line, problem: str) -> ConfigError:
    return ConfigError(f"line {line.number} {problem}: {line.text[:60]!r}.")


def _lines(text: str) -> Iterator[_Line]:
    """Yield the lines of the first document, without comments and empty lines."""
    started = False
    for number, raw in enumerate(text.splitlines(), 1):
        content = _without_comment(raw).rstrip()
        line = _Line(number, len(content) - len(content.lstrip()), content.strip())
        if line.text in ("---", "...") or line.text.startswith("--- "):
            if started:
                return
            continue
        if not line.text or (raw.startswith("%") and not started):
            continue
        if "\t" in content[: line.indent]:
            raise _error(line, "is indented with a tab; use blanks")
        started = True
        yield line


def _without_comment(raw: str) -> str:
    """Cut a line at a ``#`` that follows a blank, outside of quotes."""
    if "#" not in raw:
        return raw
    hidden = _QUOTED.sub(lambda found: "x" * len(found[0]), raw)
    comment = re.search(r"(?:^|\s)#", hidden)
    return raw if comment is None else raw[: comment.start()]


def _joined(lines: Iterator[_Line]) -> Iterator[_Line]:
    """Yield lines; a list or mapping in brackets becomes one line."""
    for line in lines:
        parts, depth = [line.text], _open_brackets(line.text)
        while depth > 0:
            following = next(lines, None)
            if following is None:
                raise _error(line, "opens a bracket that is not closed")
            parts.append(following.text)
            depth += _open_brackets(following.text)
        if depth < 0:
            raise _error(line, "closes a bracket that is not open")
        yield line._replace(text=" ".join(parts))


def _open_brackets(text: str) -> int:
    plain = _QUOTED.sub("", text)
    return sum(plain.count(c) for c in "[{") - sum(plain.count(c) for c in "]}")


def _block(lines: list[_Line], at: int, indent: int, depth: int) -> tuple[Any, int]:
    """Parse the lines of one indentation; return the value and the index of the next line."""
    if depth > _MAX_DEPTH:
        raise _error(lines[at], f"is nested more than {_MAX_DEPTH} times")
    if _is_item(lines[at].text):
        return _sequence(lines, at, indent, depth)
    return _mapping(lines, at, indent, depth)


def _is_item(text: str) -> bool:
    return text == "-" or text.startswith("- ")


def _sequence(lines: list[_Line], at: int, indent: int, depth: int) -> tuple[list[Any], int]:
    values: list[Any] = []
    while at < len(lines) and lines[at].indent == indent and _is_item(lines[at].text):
        line = lines[at]
        rest = line.text[1:].lstrip()
        if not rest:
            value, at = _nested(lines, at + 1, indent + 1, depth)
        elif _is_item(rest) or _KEY.match(rest):
            # The rest of the line starts a block of its own.
            lines[at] = _Line(line.number, indent + len(line.text) - len(rest), rest)
            value, at = _block(lines, at, lines[at].indent, depth + 1)
        else:
            value, at = _value(line, rest), at + 1
        values.append(value)
    return values, at


def _mapping(lines: list[_Line], at: int, indent: int, depth: int) -> tuple[dict[str, Any], int]:
    values: dict[str, Any] = {}
    while at < len(lines) and lines[at].indent == indent and not _is_item(lines[at].text):
        line = lines[at]
        found = _KEY.match(line.text)
        if found is None:
            raise _error(line, "must be `key: value`")
        key = str(_unquoted(found[1].strip()))
        if key in values:
            raise _error(line, f"repeats the key {key!r}")
        rest = _TAG.sub("", line.text[found.end() :].lstrip(), count=1)
        if rest:
            values[key], at = _value(line, rest), at + 1
        else:
            values[key], at = _nested(lines, at + 1, indent, depth)
    return values, at


def _nested(lines: list[_Line], at: int, indent: int, depth: int) -> tuple[Any, int]:
    """Parse the block below a key; a list may have the indentation of its key."""
    if at == len(lines):
        return None, at
    line = lines[at]
    if line.indent > indent or (line.indent == indent and _is_item(line.text)):
        return _block(lines, at, line.indent, depth + 1)
    return None, at


def _value(line: _Line, text: str) -> Any:
    text = _TAG.sub("", text, count=1) if text.startswith("!") else text
    if text[:1] in ("[", "{"):
        return _flow(line._replace(text=text))
    if text[:1] in ("&", "*", "|", ">", "@", "`"):
        raise _error(line, f"starts a value with {text[0]!r}, which is not supported")
    return _unquoted(text)


def _flow(line: _Line) -> Any:
    """Parse a list or mapping in brackets."""
    tokens = [token for found in _TOKEN.finditer(line.text) if (token := found[0].strip())]
    value, end = _flow_value(line, tokens, 0, 0)
    if end != len(tokens):
        raise _error(line, "has text after the closing bracket")
    return value


def _flow_value(line: _Line, tokens: list[str], at: int, depth: int) -> tuple[Any, int]:
    if at == len(tokens) or depth > _MAX_DEPTH:
        raise _error(line, "has brackets that do not match")
    if tokens[at] not in ("[", "{"):
        if tokens[at] in ("]", "}", ",", ":"):
            raise _error(line, f"has {tokens[at]!r} where a value must be")
        return _unquoted(_TAG.sub("", tokens[at], count=1)), at + 1
    is_list = tokens[at] == "["
    items: list[Any] = []
    at += 1
    while at < len(tokens) and tokens[at] not in ("]", "}"):
        item, at = _flow_value(line, tokens, at, depth + 1)
        if not is_list:
            if tokens[at : at + 1] != [":"]:
                raise _error(line, "must be `{key: value, ...}`")
            value, at = _flow_value(line, tokens, at + 1, depth + 1)
            item = (str(item), value)
        items.append(item)
        if tokens[at : at + 1] == [","]:
            at += 1
        elif tokens[at : at + 1] not in (["]"], ["}"]):
            raise _error(line, "needs a comma between the values in brackets")
    if tokens[at : at + 1] != (["]"] if is_list else ["}"]):
        raise _error(line, "has brackets that do not match")
    return (items if is_list else dict(items)), at + 1


def _unquoted(text: str) -> Any:
    """Return a scalar: a number, true, false, nothing, or a word."""
    if text[:1] in ("'", '"') and _QUOTED.fullmatch(text):
        inner = text[1:-1]
        return inner.replace("''", "'") if text[0] == "'" else re.sub(r"\\(.)", r"\1", inner)
    if _NUMBER.fullmatch(text):
        return int(text) if re.fullmatch(r"[-+]?\d{1,18}", text) else float(text)
    special = _SPECIAL.fullmatch(text)
    if special is not None:
        value = math.inf if special[2].lower() == "inf" else math.nan
        return -value if special[1] == "-" else value
    return _WORDS.get(text.lower(), text)
