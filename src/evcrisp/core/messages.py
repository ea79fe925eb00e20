"""Format counts for messages."""


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun.

    >>> counted(1, "event"), counted(12_000, "event"), counted(0, "match", "matches")
    ('1 event', '12,000 events', '0 matches')
    """
    return f"{n:,} {noun if n == 1 else plural or f'{noun}s'}"
