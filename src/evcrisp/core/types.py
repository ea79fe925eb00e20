"""Array types for annotations, named by their elements."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Bools = NDArray[np.bool_]
Integers = NDArray[np.int32]
Bytes = NDArray[np.uint8]
