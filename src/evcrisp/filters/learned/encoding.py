"""What the networks among the denoisers see: sizes and constants that training shares."""

import math

#: MLPF looks at 7x7 pixels, EDnCNN at 25x25.
MLPF_RADIUS = 3
PATCH_RADIUS = 12

#: MLPF: ages count down linearly from 1 to 0 within this time, us.
TAU_US = 100_000

#: EDnCNN: age of a pixel that never fired, and the greatest age, us.
MISSING_US = 5_000_000

#: EDnCNN: ages up to 150 us are zero on the scale ``log(age + 1) - LOG_FLOOR``.
LOG_FLOOR = math.log(151.0)

#: EDnCNN: time of a pixel that never fired, us; far from overflow when subtracted.
NEVER_US = -(2**62)
