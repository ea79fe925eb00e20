"""Motion models: how the image moves within a window, with 1 to 8 parameters."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
