"""Filters: label events as signal or noise one by one, with a state over the recording."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
