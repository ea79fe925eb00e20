"""Sizes and constants of the network inputs, shared by filters and training."""

import math

#: Radius of the patch of MLPF (7x7) and of EDnCNN (25x25), px.
MLPF_RADIUS = 3
PATCH_RADIUS = 12

#: MLPF: age at which an input decreases to 0, us; as in the publication.
TAU_US = 100_000

#: EDnCNN: maximum age, also of pixels that have not fired, us.
MISSING_US = 5_000_000

#: EDnCNN: inputs are ``log(age + 1) - LOG_FLOOR``, at least 0, so ages up to 150 us are 0.
LOG_FLOOR = math.log(151.0)

#: EDnCNN: time of pixels that have not fired, us; differences to it do not overflow.
NEVER_US = -(2**62)
