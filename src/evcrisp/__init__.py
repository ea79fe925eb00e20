"""Align and denoise the recordings of event cameras.

``import evcrisp`` loads nothing heavy: names and sub-packages are imported on first use.
"""

import lazy_loader

__version__ = "0.2.0"

__getattr__, _dir, _names = lazy_loader.attach_stub(__name__, __file__)

# Without `open`: `from evcrisp import *` must not replace Python's own.
__all__ = [name for name in _names if name != "open"]


def __dir__() -> list[str]:
    return [*_dir(), "__version__"]
