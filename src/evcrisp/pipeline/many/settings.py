"""Settings of a task as JSON types, to compare them with those of earlier results."""

import json
from collections.abc import Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import evcrisp
from evcrisp.pipeline.run_log import config_facts


def settings_facts(settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return settings as JSON types with the version; None if one cannot be compared."""
    facts = {name: _fact(value) for name, value in settings.items()}
    if any(fact is _UNKNOWN for fact in facts.values()):
        return None
    return {"evcrisp": evcrisp.__version__, **facts}


_UNKNOWN = object()


def _fact(value: Any) -> Any:
    """Return a value as JSON types; a configuration with its class."""
    if is_dataclass(value):
        kind = type(value)
        return {"class": f"{kind.__module__}.{kind.__qualname__}", **config_facts(value)}
    if isinstance(value, Path):
        return str(value)
    try:
        return json.loads(json.dumps(value))
    except TypeError:
        return _UNKNOWN
