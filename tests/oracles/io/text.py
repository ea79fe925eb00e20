"""Parse and write event text with exact fractions; oracle of ``kernels/io/text.py``."""

import re
from fractions import Fraction

from evcrisp.kernels.io.text import (
    FRACTION,
    IGNORED,
    NOT_A_FLAG,
    NOT_A_NUMBER,
    OK,
    OUT_OF_RANGE,
    POLARITY,
    TIME,
    TOO_FEW,
    TOO_MANY,
)

_NUMBER = re.compile(r"([+-]?)(\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d+))?(?![eE])")


def parse_events(text, roles, delimiter, time_exponent):
    """Return (rows, status, column, byte of the wrong line, number of lines before it).

    A row is {role: value}. Arguments as for the kernel, but ``text`` is bytes.
    """
    rows, offset, lines = [], 0, 0
    for line in text.decode("latin-1").split("\n")[:-1]:
        content = line.strip(" \t\r")
        if content and content[0] not in "#%":
            row, status, column = _parse_line(content, roles, delimiter, time_exponent)
            if status != OK:
                return rows, status, column, offset, lines
            rows.append(row)
        offset += len(line) + 1
        lines += 1
    return rows, OK, 0, offset, lines


def _parse_line(content, roles, delimiter, time_exponent):
    if delimiter == 32:
        fields = re.split("[ \t\r]+", content)
    else:
        fields = [field.strip(" \t\r") for field in content.split(chr(delimiter))]
    row = {}
    for column, role in enumerate(roles):
        if column >= len(fields):
            return row, TOO_FEW, column
        if role == IGNORED:
            continue
        row[role], status = _parse_field(fields[column], role, time_exponent)
        if status != OK:
            return row, status, column
    return row, TOO_MANY if len(fields) > len(roles) else OK, len(roles) - 1


def _parse_field(field, role, time_exponent):
    if role >= POLARITY and field.lower()[:1] in ("t", "f"):
        if field.lower() in ("true", "false"):
            return field.lower() == "true", OK
        return None, NOT_A_NUMBER
    match = _NUMBER.match(field)
    if match is None:
        return None, NOT_A_NUMBER
    shift = time_exponent if role == TIME else 0
    exponent = max(-10_000, min(int(match[3] or 0), 10_000))
    value = Fraction(match[2].rstrip(".")) * Fraction(10) ** (exponent + shift)
    whole = int(value + Fraction(1, 2))
    sign = -1 if match[1] == "-" else 1
    if value >= 2**63:
        return None, OUT_OF_RANGE
    if whole != value and not (role == TIME and time_exponent > 0):
        return None, FRACTION
    if role >= POLARITY:
        status = OK if whole <= 1 else NOT_A_FLAG
        result = whole * sign == 1
    elif role == TIME:
        status, result = OK, whole * sign
    else:
        status, result = OK if 0 <= whole * sign <= 65_535 else OUT_OF_RANGE, whole * sign
    if status == OK and match.end() < len(field):
        return None, NOT_A_NUMBER
    return result, status


def format_events(t, x, y, p, signal, delimiter, decimals):
    """Return the lines as bytes."""
    lines = []
    for row in range(len(t)):
        time = int(t[row])
        text = f"{abs(time)}"
        if decimals:
            text = text.rjust(decimals + 1, "0")
            text = f"{text[:-decimals]}.{text[-decimals:]}"
        columns = ["-" * (time < 0) + text, int(x[row]), int(y[row]), int(p[row])]
        if len(signal):
            columns.append(int(signal[row]))
        lines.append(chr(delimiter).join(map(str, columns)) + "\n")
    return "".join(lines).encode()
