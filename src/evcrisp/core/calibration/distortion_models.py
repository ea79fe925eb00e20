"""Names and coefficients of lens distortion in other programs."""

from collections.abc import Sequence

from evcrisp.core.calibration.fields import EQUIDISTANT, PLUMB_BOB
from evcrisp.core.errors import ConfigError

#: Lens model by the names that ROS, Kalibr and OpenCV give it.
_LENSES = {
    "plumb_bob": PLUMB_BOB,
    "radtan": PLUMB_BOB,
    "rational_polynomial": PLUMB_BOB,  # if its further terms are zero
    "none": PLUMB_BOB,
    "": PLUMB_BOB,
    "equidistant": EQUIDISTANT,
    "equi": EQUIDISTANT,
    "fisheye": EQUIDISTANT,
    "kannala_brandt4": EQUIDISTANT,
}

_SUPPORTED = (
    "Supported: plumb_bob (radtan) with up to 5 coefficients, and equidistant (fisheye) with 4."
)


def lens_of(field: str, model: str, values: Sequence[float]) -> tuple[str, tuple[float, ...]]:
    """Return the lens model and its coefficients; ``field`` is the name of the model in the file.

    >>> lens_of("distortion_model", "radtan", [-0.3, 0.1, 0.0, 0.001])
    ('plumb_bob', (-0.3, 0.1, 0.0, 0.001, 0.0))
    """
    lens = _LENSES.get(model)
    if lens is None:
        raise ConfigError(f"`{field}` {model!r} is not supported. {_SUPPORTED}")
    used = 4 if lens == EQUIDISTANT else 5
    if any(values[used:]):
        n = len(values)
        raise ConfigError(
            f"`{field}` {model!r} has {n} coefficients that are not zero. {_SUPPORTED}"
        )
    if lens == EQUIDISTANT and len(values) < 4 and any(values):
        raise ConfigError(f"`{field}` {model!r} needs 4 coefficients; got {len(values)}.")
    return lens, (*map(float, values[:used]), *(0.0,) * (used - len(values[:used])))
