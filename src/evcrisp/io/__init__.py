"""Read and write recordings: one sub-package per format family, shared rules in ``recording``."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
