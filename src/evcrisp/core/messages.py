"""Format counts and texts of files for messages."""

#: Characters of a text that are shown; files can have names and headers of any length.
_SHOWN_CHARACTERS = 500


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun.

    >>> counted(1, "event"), counted(12_000, "event"), counted(0, "match", "matches")
    ('1 event', '12,000 events', '0 matches')
    """
    return f"{n:,} {noun if n == 1 else plural or f'{noun}s'}"


def shown(text: str, n_most: int = _SHOWN_CHARACTERS, *, lines: bool = False) -> str:
    r"""Return a text for a terminal or a page: control characters escaped, the middle left out.

    ``lines`` keeps the ends of lines, for texts that do not come from a file.

    >>> shown("a\x1b[2Jb"), shown("0123456789" * 3, 20)
    ('a\\x1b[2Jb', '01234567... 23456789')
    """
    if len(text) > n_most:
        n_end = (n_most - 4) // 2
        text = f"{text[: n_most - 4 - n_end]}... {text[-n_end:]}"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or (lines and c == "\n") else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
