"""Numbers for JSON, which has none that are not finite."""

import math
from typing import Any


def without_nan(facts: Any) -> Any:
    """Replace numbers that are not finite by None, in dictionaries and lists.

    >>> without_nan({"a": [1.5, float("nan")]})
    {'a': [1.5, None]}
    """
    if isinstance(facts, dict):
        return {name: without_nan(value) for name, value in facts.items()}
    if isinstance(facts, list):
        return [without_nan(value) for value in facts]
    if isinstance(facts, float) and not math.isfinite(facts):
        return None
    return facts
