"""Settings of a scene of planes at several depths, before a camera that moves sideways."""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from evcrisp.core.errors import ConfigError
from evcrisp.core.validation import as_numbers, check_number
from evcrisp.simulation.config import MAX_OBJECTS, ObjectConfig
from evcrisp.simulation.settings import Settings


def depth_layers(
    depths_m: ArrayLike,
    camera_m_s: ArrayLike,
    *,
    focal_px: float = 300.0,
    patch: tuple[float, float] = (0.16, 0.2),
    textures: Sequence[str] = ("rocks",),
) -> Settings:
    """Return settings for :func:`evcrisp.simulate`: planes with holes that move by 1 / depth.

    Parameters
    ----------
    depths_m : sequence of float, m
        Depths of the planes; the farthest is the background. The others show through their holes.
    camera_m_s : (float, float), m/s
        Velocity of the camera, right and down. The image moves the other way.
    focal_px : float, px
        Focal length. Default: 300, a field of view of 60 degrees at 346 px.
    patch : (float, float)
        Size of the patches between the holes, as shares of the view.
    textures : sequence of str
        Textures from far to near; repeated if there are more planes.

    Examples
    --------
    >>> settings = depth_layers((8.0, 2.0), (1.0, 0.0))
    >>> settings["theta"], settings["objects"][0].theta
    ((-37.5, -0.0), (-150.0, -0.0))
    """
    depths = sorted(as_numbers("depths_m", depths_m), reverse=True)
    camera_x, camera_y = as_numbers("camera_m_s", camera_m_s, 2, "two numbers, m/s")
    check_number("focal_px", focal_px, 0.0, open_low=True)
    if not 1 <= len(depths) <= MAX_OBJECTS + 1 or depths[-1] <= 0:
        problem = f"must be 1 to {MAX_OBJECTS + 1} positive depths"
        raise ConfigError(problem, parameter="depths_m", value=tuple(depths))
    thetas = [(-focal_px * camera_x / depth, -focal_px * camera_y / depth) for depth in depths]
    names = [textures[i % len(textures)] for i in range(len(depths))]
    objects = tuple(
        ObjectConfig(
            theta=thetas[i],
            texture=names[i],
            outline="patches",
            # Irrational shares, so that patches of two planes do not lie on each other.
            center=(0.618034 * i % 1.0, 0.414214 * i % 1.0),
            size=patch,
        )
        for i in range(1, len(depths))
    )
    return {"motion": "translation", "theta": thetas[0], "texture": names[0], "objects": objects}
