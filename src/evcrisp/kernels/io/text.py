"""Parse and write lines of event text, one event per line, without floats."""

import numpy as np

from evcrisp.kernels.compile import njit

#: Roles of columns; the values of `roles`.
TIME, X, Y, POLARITY, SIGNAL, IGNORED = 0, 1, 2, 3, 4, 5

#: Status of a line; state[3] after `parse_events`.
OK, NOT_A_NUMBER, TOO_FEW, TOO_MANY, FRACTION, OUT_OF_RANGE, NOT_A_FLAG = 0, 1, 2, 3, 4, 5, 6

#: Longest line of `format_events`: "-9223372036854.775808 65535 65535 1 1\n".
MAX_LINE_BYTES = 40

_INT64_MAX = np.iinfo(np.int64).max
_TRUE = np.frombuffer(b"true", np.uint8)
_FALSE = np.frombuffer(b"false", np.uint8)
_POWERS = 10 ** np.arange(19, dtype=np.int64)


@njit
def parse_events(text, roles, delimiter, time_exponent, t, x, y, p, signal, state):
    """Parse lines to columns, up to the end of the text or columns, or to a wrong line.

    text : (n,) uint8, the last byte is a newline      roles : (c,) int64, role of each column
    delimiter : byte between columns; 32 stands for any run of blanks and tabs
    time_exponent : 6 for time in seconds, 0 for microseconds
    t : (m,) int64      x, y : (m,) uint16      p, signal : (m,) bool; filled from row state[1]
    state : (5,) int64, updated: byte, row, number of lines, status, column of the wrong field.
    Empty lines and lines of # or % are skipped. At a wrong line, state[0] is its first byte.
    """
    state[3] = OK
    while state[0] < text.size and state[1] < t.size and state[3] == OK:
        _plain_lines(text, roles, delimiter, time_exponent, t, x, y, p, signal, state)
        if state[0] < text.size and state[1] < t.size:
            _any_line(text, roles, delimiter, time_exponent, t, x, y, p, signal, state)


@njit
def _plain_lines(text, roles, delimiter, time_exponent, t, x, y, p, signal, state):
    """Parse lines of plain digits with single delimiters; stop at the first other line.

    One function without calls, because a call costs as much as a field. It is three times faster
    than `_any_line`, which parses the other lines.
    """
    i, row, lines = state[0], state[1], state[2]
    last = roles.size - 1
    plain = True
    while plain and i < text.size and row < t.size:
        for column in range(roles.size):
            role = roles[column]
            negative = role == POLARITY and text[i] == 45
            i += negative
            start = i
            value = np.int64(0)
            while i - start < 18 and 48 <= text[i] <= 57:  # more would not fit into int64
                value = value * 10 + (text[i] - 48)
                i += 1
            n_digits, n_decimals = i - start, 0
            if n_digits == 0:
                plain = False
                break
            if role == TIME and text[i] == 46:
                i += 1
                start = i
                while i - start < 18 - n_digits and 48 <= text[i] <= 57:
                    value = value * 10 + (text[i] - 48)
                    i += 1
                n_decimals = i - start
            if role == TIME:
                exponent = time_exponent - n_decimals
                if exponent >= 0:
                    plain = value <= _INT64_MAX // _POWERS[exponent]
                    t[row] = value * _POWERS[exponent] if plain else 0
                elif exponent == -3 and time_exponent:  # nine decimals; a constant is faster
                    t[row] = (value + 500) // 1000
                else:
                    plain = time_exponent > 0
                    t[row] = (value + _POWERS[-exponent] // 2) // _POWERS[-exponent]
            elif role == X:
                x[row] = value
                plain = value <= 65_535
            elif role == Y:
                y[row] = value
                plain = value <= 65_535
            elif role == POLARITY:
                p[row] = value and not negative
                plain = value <= 1
            elif role == SIGNAL:
                signal[row] = value
                plain = value <= 1
            if column == last and text[i] == 13:
                i += 1
            plain = plain and text[i] == (10 if column == last else delimiter)
            if not plain:
                break
            i += 1
        if plain:
            row += 1
            lines += 1
            state[0], state[1], state[2] = i, row, lines


@njit
def _any_line(text, roles, delimiter, time_exponent, t, x, y, p, signal, state):
    """Parse any line."""
    i, row = state[0], state[1]
    i = _after_blanks(text, i)
    if text[i] == 10 or text[i] == 35 or text[i] == 37:
        while text[i] != 10:
            i += 1
        state[0], state[2] = i + 1, state[2] + 1
        return
    status, column = OK, 0
    for column in range(roles.size):
        if column:
            i, status = _next_column(text, i, delimiter)
            if status == NOT_A_NUMBER:  # characters after the last field, as in `12b`
                column -= 1
            if status != OK:
                break
        role = roles[column]
        if role == IGNORED:
            i = _after_field(text, i, delimiter)
        elif role == TIME:
            i, t[row], status = _whole(text, i, time_exponent, time_exponent > 0)
        elif role == X:
            i, x[row], status = _coordinate(text, i)
        elif role == Y:
            i, y[row], status = _coordinate(text, i)
        elif role == POLARITY:
            i, p[row], status = _flag(text, i)
        else:
            i, signal[row], status = _flag(text, i)
        if status != OK:
            break
    if status == OK:
        end = i
        i = _after_blanks(text, i)
        if text[i] != 10:
            has_more = text[i] == delimiter if delimiter != 32 else i > end
            status = TOO_MANY if has_more else NOT_A_NUMBER
    if status == OK:
        state[0], state[1], state[2] = i + 1, row + 1, state[2] + 1
    else:
        state[3], state[4] = status, column


@njit
def _after_blanks(text, i):
    while text[i] == 32 or text[i] == 9 or text[i] == 13:
        i += 1
    return i


@njit
def _after_field(text, i, delimiter):
    """Skip a column."""
    while text[i] != 10 and text[i] != delimiter and not (delimiter == 32 and text[i] == 9):
        i += 1
    return i


@njit
def _next_column(text, i, delimiter):
    """Skip the delimiter between two columns."""
    end = i
    i = _after_blanks(text, i)
    if text[i] == 10:
        return i, TOO_FEW
    if delimiter == 32:
        return i, OK if i > end else NOT_A_NUMBER
    if text[i] != delimiter:
        return i, NOT_A_NUMBER
    return _after_blanks(text, i + 1), OK


@njit
def _coordinate(text, i):
    """Read a whole number from 0 to 65535."""
    i, value, status = _whole(text, i, 0, False)
    if status == OK and not 0 <= value <= 65_535:
        status = OUT_OF_RANGE
    return i, np.uint16(value & 0xFFFF), status


@njit
def _flag(text, i):
    """Read 0, 1 or -1, or the word True or False."""
    first = text[i] | 32
    if first == 116 or first == 102:
        word = _TRUE if first == 116 else _FALSE
        for letter in word:
            if text[i] | 32 != letter:
                return i, False, NOT_A_NUMBER
            i += 1
        return i, first == 116, OK
    i, value, status = _whole(text, i, 0, False)
    if status == OK and not -1 <= value <= 1:
        status = NOT_A_FLAG
    return i, value == 1, status


@njit
def _whole(text, i, shift, rounded):
    """Read a decimal number times 10**shift as int64, rounded half away from zero if allowed."""
    i, mantissa, exponent, negative, cut, found = _decimal(text, i)
    if not found:
        return i, np.int64(0), NOT_A_NUMBER
    exponent += shift
    value, rest = mantissa, False
    if exponent > 0 and mantissa != 0:
        if exponent > 18 or mantissa > _INT64_MAX // _POWERS[exponent]:
            return i, np.int64(0), OUT_OF_RANGE
        value = mantissa * _POWERS[exponent]
    elif exponent < 0:
        value, rest = _divided(mantissa, -exponent)
    if (rest or cut) and not rounded:
        return i, np.int64(0), FRACTION
    return i, -value if negative else value, OK


@njit
def _divided(mantissa, k):
    """Return mantissa / 10**k, rounded half up, and whether there is a remainder."""
    if k > 18:
        # A mantissa has at most 19 digits, so that only k == 19 can round up to 1.
        return np.int64(k == 19 and mantissa >= 5 * _POWERS[18]), mantissa != 0
    whole = mantissa // _POWERS[k]
    rest = mantissa - whole * _POWERS[k]
    if 2 * rest >= _POWERS[k]:
        whole += 1
    return whole, rest != 0


@njit
def _decimal(text, i):
    """Split a number such as -1.5e-05 into its digits and a power of ten.

    Digits beyond int64 are cut off. Returns the byte after the number, digits, exponent, whether
    it is negative, whether it lost digits, and whether it is a number.
    """
    negative = text[i] == 45
    if negative or text[i] == 43:
        i += 1
    mantissa, exponent = np.int64(0), np.int64(0)
    n_digits = 0
    full = cut = past_point = False
    while 48 <= text[i] <= 57 or (text[i] == 46 and not past_point):
        if text[i] == 46:
            past_point = True
        else:
            digit = np.int64(text[i]) - 48
            if not full and mantissa > (_INT64_MAX - digit) // 10:
                full = True
                # One more than fits, so that a number just beyond int64 does not become smaller.
                mantissa = max(mantissa, _INT64_MAX // 10 + 1)
            if full:
                cut = cut or digit != 0
            else:
                mantissa = mantissa * 10 + digit
            # A digit that is cut off before the point still counts for the exponent.
            exponent += np.int64(full) - np.int64(past_point)
            n_digits += 1
        i += 1
    if n_digits and (text[i] | 32) == 101:
        i += 1
        down = text[i] == 45
        if down or text[i] == 43:
            i += 1
        start = i
        power = np.int64(0)
        while 48 <= text[i] <= 57:
            power = min(power * 10 + text[i] - 48, np.int64(10_000))
            i += 1
        n_digits = i - start
        exponent += -power if down else power
    return i, mantissa, exponent, negative, cut, n_digits > 0


@njit
def format_events(t, x, y, p, signal, delimiter, decimals, out):
    """Write lines `t x y p`; return the number of bytes.

    t : (n,) int64      x, y : (n,) uint16      p : (n,) bool      signal : (n,) or (0,) bool
    decimals : 6 writes time in seconds, 0 in microseconds      out : (n * MAX_LINE_BYTES,) uint8
    """
    i = 0
    for row in range(t.size):
        if t[row] < 0:
            out[i] = 45
            i += 1
        # -(t + 1) + 1 and not -t: the smallest int64 has no positive counterpart.
        whole = np.uint64(t[row]) if t[row] >= 0 else np.uint64(-(t[row] + 1)) + np.uint64(1)
        if decimals:
            scale = np.uint64(_POWERS[decimals])
            seconds = whole // scale
            i = _put(out, i, seconds, 1)
            out[i] = 46
            i = _put(out, i + 1, whole - seconds * scale, decimals)
        else:
            i = _put(out, i, whole, 1)
        out[i] = delimiter
        i = _put(out, i + 1, np.uint64(x[row]), 1)
        out[i] = delimiter
        i = _put(out, i + 1, np.uint64(y[row]), 1)
        out[i] = delimiter
        out[i + 1] = 48 + p[row]
        i += 2
        if signal.size:
            out[i] = delimiter
            out[i + 1] = 48 + signal[row]
            i += 2
        out[i] = 10
        i += 1
    return i


@njit
def _put(out, i, value, n_least):
    """Write a number with at least `n_least` digits; return the byte after it."""
    ten = np.uint64(10)
    n_digits, rest = 1, value // ten
    while rest:
        rest //= ten
        n_digits += 1
    end = i + max(n_digits, n_least)
    for k in range(end - 1, i - 1, -1):
        rest = value // ten
        out[k] = np.uint8(value - rest * ten) + np.uint8(48)
        value = rest
    return end
