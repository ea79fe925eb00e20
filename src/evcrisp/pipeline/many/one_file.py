"""What tasks with one output file per recording share."""

from collections.abc import Callable
from typing import Any, TypedDict


class BatchOptions(TypedDict, total=False):
    """Where many recordings are processed, and progress; the fields of `Batch`."""

    jobs: int | None
    scheduler: str | None
    overwrite: bool
    on_start: Callable[[int], None]
    on_done: Callable[[str], None]
    on_piece: Callable[[str, float], None]


def sums(facts: list[dict[str, Any]], *names: str) -> dict[str, Any]:
    """Return sums of facts over recordings."""
    return {name: sum(one[name] for one in facts) for name in names}
