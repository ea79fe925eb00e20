"""Simulated event camera with known labels and motion.

::

    texture -> path (texel of each pixel) -> sensor (thresholds, reset) -> signal events
                                      noise (leak, shot, hot, uniform, measured) -> merged
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
