"""Targets of the quality benchmarks: a figure, its limit, and whether the limit is kept."""

import math
from dataclasses import asdict, dataclass

from benchmarks.measure import print_table


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A figure that must be at least ``least``, or at most ``most``; exactly one of them is set."""

    name: str
    value: float
    least: float | None = None
    most: float | None = None

    @property
    def holds(self) -> bool:
        """Whether the limit is kept; a figure that is not a number keeps none."""
        if math.isnan(self.value):
            return False
        return self.value >= self.least if self.most is None else self.value <= self.most

    def as_dict(self) -> dict:
        """Return the fields that are set, and ``holds``."""
        kept = {key: value for key, value in asdict(self).items() if value is not None}
        return kept | {"holds": self.holds}


def show_targets(title, targets):
    """Print a table of targets to stderr."""
    rows = [
        (
            "holds" if one.holds else "MISSED",
            one.name,
            f"{one.value:.4g}",
            f"<= {one.most:g}" if one.least is None else f">= {one.least:g}",
        )
        for one in targets
    ]
    print_table(title, ("", "target", "found", "limit"), rows)
