"""Formats of flow files by suffix."""

from pathlib import Path
from typing import ClassVar, Protocol

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.flow import Flow
from evcrisp.core.types import Bools
from evcrisp.io.flow.flo import FloFormat
from evcrisp.io.flow.npz import NpzFormat
from evcrisp.io.flow.png import PngFormat
from evcrisp.io.flow.stored_flow import StoredFlow


class FlowFormat(Protocol):
    """A format of flow files."""

    name: ClassVar[str]
    suffix: ClassVar[str]
    least_px: ClassVar[float]  # smallest displacement that the format holds
    most_px: ClassVar[float]  # largest

    def read(self, path: Path) -> StoredFlow:
        """Read a file; raise `FormatError` if it does not follow the format."""
        ...

    def write(self, path: Path, flow: Flow) -> None:
        """Write a flow whose displacements the format holds."""
        ...


#: Formats by name; the suffix is the name after a dot.
FLOW_FORMATS: dict[str, FlowFormat] = {
    form.name: form for form in (NpzFormat(), FloFormat(), PngFormat())
}


def format_of(path: Path) -> FlowFormat:
    """Return the format of the suffix of a path."""
    for form in FLOW_FORMATS.values():
        if path.name.lower().endswith(form.suffix):
            return form
    known = ", ".join(form.suffix for form in FLOW_FORMATS.values())
    raise ConfigError(
        f"No flow format has the suffix of {path.name!r}.", remedy=f"Use one of {known}."
    )


def fitting(flow: Flow, form: FlowFormat) -> Bools:
    """Return the pixels that a format can hold, (h, w): those not valid, and those in its range."""
    displacement = flow.displacement_px
    inside = (displacement >= form.least_px) & (displacement <= form.most_px)
    return np.asarray(inside.all(axis=2) | ~flow.valid)
