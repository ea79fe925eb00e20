"""Register own parts: estimators, filters, metrics, data sets, formats, motion models.

Installed packages do the same without a call, through entry points; see ``docs/guide/plugins.md``.
"""

import importlib
from collections.abc import Callable
from typing import Any

from evcrisp.core.errors import ConfigError
from evcrisp.core.registry import Registry, lookup

#: Kind of a part -> its registry, and the attributes that a part must have.
_KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "estimator": ("evcrisp.estimators.registry:ESTIMATORS", ("run",)),
    "filter": ("evcrisp.filters.registry:FILTERS", ("start",)),
    "metric": ("evcrisp.metrics.registry:METRICS", ("title", "start")),
    "dataset": ("evcrisp.experiments.datasets:DATASETS", ("title", "layout")),
    "reader": ("evcrisp.io.registry:READERS", ("recognizes", "open", "suffixes")),
    "writer": ("evcrisp.io.registry:WRITERS", ("open", "suffixes")),
    "motion": ("evcrisp.motion.registry:MOTION_MODELS", ("for_sensor", "warp", "kernels")),
    "objective": ("evcrisp.objectives.registry:OBJECTIVES", ("value",)),
    "solver": ("evcrisp.optimize.registry:SOLVERS", ("maximize",)),
}


def registry_of(kind: str) -> Registry[Any]:
    """Return the registry of a kind of parts: "estimator", "filter", "metric" and so on."""
    path, _ = lookup(_KINDS, kind, "kind of part")
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def register(
    kind: str, part: Any = None, name: str | None = None, *, overwrite: bool = False
) -> Any:
    """Add a part to a registry, so that its name is accepted everywhere. Returns the part.

    A registered part is known in this process only. Worker processes, such as those of the viewer
    and of ``reproduce``, know parts of installed packages.

    Parameters
    ----------
    kind : {"estimator", "filter", "metric", "dataset", "reader", "writer", "motion", "objective", "solver"}
        What the part is.
    part : class or object, optional
        The part; a class for all kinds but readers and data sets, which may be objects too. Without
        it, the call is a class decorator.
    name : str, optional
        Name of the part; its attribute ``name`` by default.
    overwrite : bool
        Replace a part of the same name.

    Raises
    ------
    ConfigError
        If the part lacks what its kind needs, or the name exists.

    Examples
    --------
    >>> import numpy as np, evcrisp
    >>> from dataclasses import dataclass
    >>> from evcrisp.filters import Labels
    >>> @evcrisp.register("filter")
    ... @dataclass(frozen=True)
    ... class OnOnly:
    ...     name = "on_only"
    ...     def start(self, resolution):
    ...         return self
    ...     def label(self, events):
    ...         return Labels(events.p.copy(), events.p.astype(float))
    ...     def finish(self):
    ...         return Labels.empty(0)
    >>> events = evcrisp.Events(x=[1, 2], y=[0, 0], t=[0, 5], p=[1, 0], resolution=(4, 4))
    >>> evcrisp.denoise(events, "on_only").signal
    array([ True, False])
    >>> evcrisp.plugins.registry_of("filter").unregister("on_only")
    """
    registry = registry_of(kind)
    if part is None:
        return _decorator(kind, name, overwrite)
    missing = [attribute for attribute in _KINDS[kind][1] if not hasattr(part, attribute)]
    if missing:
        raise ConfigError(
            f"A {kind} needs {' and '.join(f'`{attribute}`' for attribute in missing)}; "
            f"{getattr(part, '__name__', repr(part))} has none."
        )
    return registry.register(part, name, overwrite=overwrite)


def _decorator(kind: str, name: str | None, overwrite: bool) -> Callable[[Any], Any]:
    def decorate(part: Any) -> Any:
        return register(kind, part, name, overwrite=overwrite)

    return decorate
