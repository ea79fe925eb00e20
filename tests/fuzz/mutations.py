"""Damage bytes at random: bits, numbers, cuts, insertions, parts of other files."""

from dataclasses import dataclass

import numpy as np

#: Numbers at which programs go wrong: limits of types, signs, sizes.
ODD_NUMBERS = (
    *(0, 1, 2, 127, 128, 255, 256, 32_767, 32_768, 65_535, 65_536),
    *(2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 1),
)
#: Texts that numbers in text files are replaced with.
ODD_TEXTS = (
    *(b"", b"-", b"-1", b"0", b"1e308", b"1e999", b"nan", b"inf", b"0x10", b"99999999999999999999"),
    *(b"9223372036854775807", b"-9223372036854775808", b"1.5", b".", b",", b"\t", b"\0", b"\n"),
    *(b"\xff\xfe", b"\x1b[2J", b"{}", b"[", b'"', b"\r", b"#", b"%", b"/../", b"null"),
)


@dataclass(frozen=True)
class Damage:
    """Damaged bytes, and the first byte that differs or is missing."""

    kind: str
    data: bytes
    first: int


def damage(rng: np.random.Generator, data: bytes, others: list[bytes]) -> Damage:
    """Return one to four changes of one kind; half of them hit the first 400 bytes."""
    kinds = list(_KINDS)
    kind = kinds[int(rng.integers(len(kinds)))]
    changed = bytearray(data)
    for _ in range(1 if kind in ("cut", "splice") else int(rng.integers(1, 5))):
        end = len(changed) if rng.random() < 0.5 else min(len(changed), 400)
        at = int(rng.integers(0, max(end, 1)))
        changed = _KINDS[kind](rng, changed, at, others)
    return Damage(kind, bytes(changed), first_difference(data, bytes(changed)))


def first_difference(before: bytes, after: bytes) -> int:
    """Return the first byte that differs; the end of the shorter one if none does."""
    n = min(len(before), len(after))
    a, b = np.frombuffer(before, np.uint8, n), np.frombuffer(after, np.uint8, n)
    differs = a != b
    return int(np.argmax(differs)) if differs.any() else n


def _flip(rng, data, at, others):
    if data:
        data[at] ^= 1 << int(rng.integers(8))
    return data


def _byte(rng, data, at, others):
    if data:
        data[at] = int(rng.choice((0, 1, 0x7F, 0x80, 0xFF, int(rng.integers(256)))))
    return data


def _number(rng, data, at, others):
    size = int(rng.choice((1, 2, 4, 8)))
    value = int(ODD_NUMBERS[int(rng.integers(len(ODD_NUMBERS)))]) + int(rng.integers(-1, 2))
    order = "little" if rng.random() < 0.8 else "big"
    data[at : at + size] = (value % (1 << 8 * size)).to_bytes(size, order)
    return data


def _add(rng, data, at, others):
    """Change a number by a few."""
    size = int(rng.choice((1, 2, 4, 8)))
    value = int.from_bytes(data[at : at + size], "little") + int(rng.integers(-16, 17))
    data[at : at + size] = (value % (1 << 8 * size)).to_bytes(size, "little")
    return data


def _cut(rng, data, at, others):
    return data[:at]


def _insert(rng, data, at, others):
    data[at:at] = rng.bytes(int(rng.integers(1, 40)))
    return data


def _delete(rng, data, at, others):
    del data[at : at + int(rng.integers(1, 40))]
    return data


def _repeat(rng, data, at, others):
    n = int(rng.integers(1, 200))
    data[at:at] = data[at : at + n] * int(rng.integers(1, 4))
    return data


def _move(rng, data, at, others):
    n = int(rng.integers(1, 100))
    part = data[at : at + n]
    del data[at : at + n]
    to = int(rng.integers(0, len(data) + 1))
    data[to:to] = part
    return data


def _fill(rng, data, at, others):
    """Fill a sector with one value, as a lost sector of a disk."""
    start = at // 512 * 512 if rng.random() < 0.5 else at
    end = min(start + int(rng.choice((16, 512))), len(data))
    data[start:end] = bytes([int(rng.choice((0, 0xFF)))]) * (end - start)
    return data


def _splice(rng, data, at, others):
    """Continue with a part of another file."""
    other = others[int(rng.integers(len(others)))]
    start = int(rng.integers(0, len(other) + 1))
    return data[:at] + other[start:]


def _text(rng, data, at, others):
    """Replace a word of a text."""
    start = at
    while start > 0 and data[start - 1 : start].isalnum():
        start -= 1
    end = at
    while end < len(data) and data[end : end + 1].isalnum() and end - start < 40:
        end += 1
    data[start:end] = ODD_TEXTS[int(rng.integers(len(ODD_TEXTS)))]
    return data


_KINDS = {
    "flip": _flip,
    "byte": _byte,
    "number": _number,
    "add": _add,
    "cut": _cut,
    "insert": _insert,
    "delete": _delete,
    "repeat": _repeat,
    "move": _move,
    "fill": _fill,
    "splice": _splice,
    "text": _text,
}
