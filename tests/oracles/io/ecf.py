"""Decode and encode blocks of ECF event by event; oracle of ``kernels/io/ecf.py``."""

import struct

APART, COLUMNS, PLACES = range(3)


def decode_ecf(block):
    """Return the events (x, y, t, p) of a block, and the number of bytes that were used."""
    (head, now) = struct.unpack_from("<IQ", block)
    n, layout = head >> 2, head & 3
    rest = list(block[12:])
    times, step, n_digits = [], 0, 0
    while len(times) < n:
        byte = rest.pop(0)
        if byte >> 4 == 15:
            step += (byte & 15) * 16**n_digits
            n_digits += 1
            continue
        now += step + (byte >> 4)
        step = n_digits = 0
        count = byte & 15
        times += [now] * (_take(rest, 2) if count == 15 else count)
    places = {APART: _apart, COLUMNS: _with_columns, PLACES: _with_places}[layout](rest, n)
    return [(x, y, t, p) for (x, y, p), t in zip(places, times, strict=False)], len(block) - len(
        rest
    )


def _take(rest, n_bytes):
    """Remove a little-endian number from the start."""
    value = int.from_bytes(bytes(rest[:n_bytes]), "little")
    del rest[:n_bytes]
    return value


def _rows(rest, n):
    rows = []
    while len(rows) < n:
        word = _take(rest, 2)
        rows += [word >> 5] * (_take(rest, 2) if word & 31 == 31 else word & 31)
    return rows


def _apart(rest, n):
    rows, columns, polarities = _rows(rest, n), [], []
    while len(columns) < n:
        x, mask = divmod(_take(rest, 2), 32)
        columns += [x] + [x + 1 + k for k, bit in enumerate(f"{mask:05b}") if bit == "1"]
    while len(polarities) < n:
        p, count = divmod(_take(rest, 1), 128)
        polarities += [bool(p)] * (_take(rest, 2) if count == 127 else count)
    return list(zip(columns[:n], rows, polarities, strict=True))


def _with_columns(rest, n):
    rows, values = _rows(rest, n), _groups(rest, n, 12)
    return [(value >> 1, y, bool(value & 1)) for value, y in zip(values, rows, strict=False)]


def _with_places(rest, n):
    values = _groups(rest, n, 24)
    return [(v >> 1 & 0x7FF, v >> 12 & 0x7FF, bool(v & 1)) for v in values[:n]]


def _groups(rest, n, bits):
    """Return numbers that are stored as four in three words."""
    third = bits // 3
    word_bytes = bits // 6
    values = []
    while len(values) < n:
        a, b, c = (_take(rest, word_bytes) for _ in range(3))
        values.append(a >> third)
        values.append(a % (1 << third) + (b >> 2 * third << third))
        values.append(b % (1 << 2 * third) + (c >> 3 * third << 2 * third))
        values.append(c % (1 << 3 * third))
    return values


def encode_ecf(events, layout):
    """Return a block of events (x, y, t, p), sorted by time, in one of the three layouts."""
    data = bytearray(struct.pack("<IQ", len(events) << 2 | layout, events[0][2] if events else 0))
    now = events[0][2] if events else 0
    for t, count in _runs(t for _, _, t, _ in events):
        step = t - now
        if step >= 15:
            while step:
                data.append(0xF0 | step % 16)
                step //= 16
        data += _counted(1, step, 4, count)
        now = t
    if layout == PLACES:
        return bytes(data + _grouped([y << 12 | x << 1 | p for x, y, _, p in events], 24))
    for y, count in _runs(y for _, y, _, _ in events):
        data += _counted(2, y, 5, count)
    if layout == COLUMNS:
        return bytes(data + _grouped([x << 1 | p for x, _, _, p in events], 12))
    columns = [x for x, *_ in events]
    while columns:
        first, mask = columns.pop(0), 0
        for k in range(5):
            if columns and columns[0] == first + 1 + k:
                mask |= 16 >> k
                columns.pop(0)
        data += struct.pack("<H", first << 5 | mask)
    for p, count in _runs(p for *_, p in events):
        data += _counted(1, int(p), 7, count)
    return bytes(data)


def _runs(values):
    runs = []
    for value in values:
        if runs and runs[-1][0] == value:
            runs[-1][1] += 1
        else:
            runs.append([value, 1])
    return runs


def _counted(n_bytes, value, bits, count):
    """Return a value with a count of some bits; all ones mean that two bytes have the count."""
    most = (1 << bits) - 1
    data = (value << bits | min(count, most)).to_bytes(n_bytes, "little")
    return data + (struct.pack("<H", count) if count >= most else b"")


def _grouped(values, bits):
    third = bits // 3
    values = values + [0] * (-len(values) % 4)
    data = bytearray()
    for k in range(0, len(values), 4):
        a, b, c, d = values[k : k + 4]
        words = (
            a << third | b % (1 << third),
            b >> third << 2 * third | c % (1 << 2 * third),
            c >> 2 * third << 3 * third | d,
        )
        for word in words:
            data += word.to_bytes(bits // 6, "little")
    return data
