"""Build the scene for the kernels: log textures, opacities and flat areas."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.types import Bytes, Floats, Singles
from evcrisp.motion import MOTION_MODELS, MotionModel
from evcrisp.motion.protocol import camera_of
from evcrisp.simulation.config import ObjectConfig, SceneConfig, SimulationConfig
from evcrisp.simulation.seeds import Stream, generator
from evcrisp.simulation.textures import OUTLINES, TEXTURES, TextureSpec, mirrored

if TYPE_CHECKING:
    from evcrisp.kernels.simulation.sensor import Scene

#: Maximum clearance of a texel; longer jumps would save almost no time.
_MAX_CLEARANCE = 40
#: Box of a layer that repeats without end: first and last u, first and last v.
_EVERYWHERE = (-np.inf, np.inf, -np.inf, np.inf)


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A scene, and the ideal position of every pixel."""

    scene: "Scene"
    base: Floats  # (n_pixels, 2) px
    log_range: tuple[float, float]  # darkest and brightest log intensity


def build_view(whole: SimulationConfig, model: MotionModel) -> View:
    """Render all layers of a scene for a sensor; ``model`` is that of the background."""
    from evcrisp.kernels.simulation.sensor import CUBE, Scene

    config, resolution, seed = whole.scene, whole.resolution, whole.seed
    width, height = resolution
    tile, offset = _background(config, resolution, seed)
    log_layers = [_log_intensity(tile, config)]
    alphas = [np.ones_like(tile)]
    boxes, places = [_EVERYWHERE], _places(whole)
    for index, item in enumerate(config.objects):
        rng = generator(seed, Stream.TEXTURE, index + 1)
        spec = TextureSpec(rng, tile.shape, config.feature_px, 0.5 * min(resolution))
        log_layers.append(_log_intensity(TEXTURES[item.texture](spec), config))
        center = (item.center[0] * width + offset[0], item.center[1] * height + offset[1])
        size = (item.size[0] * width, item.size[1] * height)
        alphas.append(_blurred(OUTLINES[item.outline](tile.shape, center, size), config.blur_px))
        is_single = item.is_single and places[index + 1] != CUBE
        boxes.append(_box(tile.shape, center, size, config.blur_px) if is_single else _EVERYWHERE)
    log_texture = np.stack(log_layers).astype(np.float32)
    alpha = np.stack(alphas).astype(np.float32)
    clearance = np.stack([_clearance(*pair) for pair in zip(log_texture, alpha, strict=True)])
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    base = np.stack((x, y), axis=-1)
    camera, intrinsics = camera_of(model), np.zeros(4)
    if camera is not None:
        base = camera.ideal_pixels(resolution)
        intrinsics = np.array([camera.fx, camera.fy, camera.cx, camera.cy])
    scene = Scene(
        log_texture, alpha, clearance, np.array(offset), intrinsics, places, np.array(boxes)
    )
    log_range = float(log_texture.min()), float(log_texture.max())
    return View(scene, np.ascontiguousarray(base.reshape(-1, 2)), log_range)


def _places(config: SimulationConfig) -> NDArray[np.int8]:
    """Return how the texels of each layer are found."""
    from evcrisp.kernels.simulation.sensor import CUBE, PLANE, TABLE

    def place(layer: SimulationConfig | ObjectConfig) -> int:
        if layer.field is not None:
            return TABLE
        return CUBE if MOTION_MODELS[layer.motion or config.motion].uses_rays else PLANE

    return np.array([place(layer) for layer in (config, *config.scene.objects)], np.int8)


def _box(
    shape: tuple[int, int], center: tuple[float, float], size: tuple[float, float], blur_px: float
) -> tuple[float, float, float, float]:
    """Return the tile around an object, texels; everywhere if the object is larger than it."""
    margin = 4.0 + 8.0 * blur_px
    if size[0] + margin > shape[1] or size[1] + margin > shape[0]:
        return _EVERYWHERE
    half_x, half_y = 0.5 * shape[1], 0.5 * shape[0]
    return center[0] - half_x, center[0] + half_x, center[1] - half_y, center[1] + half_y


def _background(
    config: SceneConfig, resolution: Sequence[int], seed: int
) -> tuple[Floats, tuple[float, float]]:
    """Return the reflectance tile, and the texel of pixel (0, 0) at the start."""
    width, height = resolution
    min_shape = (int(1.5 * height), int(1.5 * width))
    if config.image is not None:
        image = np.asarray(config.image)
        offset = (0.5 * (image.shape[1] - width), 0.5 * (image.shape[0] - height))
        tile = mirrored(image)
        repeats = [-(-side // size) for side, size in zip(min_shape, tile.shape, strict=True)]
        return np.tile(tile, repeats), offset
    n_rows, n_columns = (max(128, -(-side // 64) * 64) for side in min_shape)
    shape = (n_rows, n_columns)
    rng = generator(seed, Stream.TEXTURE, 0)
    spec = TextureSpec(rng, shape, config.feature_px, 0.5 * min(resolution))
    tile = TEXTURES[config.texture](spec)
    # The tile is centered in the view, and with it the texture "star".
    return tile, (0.5 * (shape[1] - width + 1), 0.5 * (shape[0] - height + 1))


def _log_intensity(reflectance: Floats, config: SceneConfig) -> Floats:
    dark = 1.0 / config.contrast
    return np.log(_blurred(dark + (1.0 - dark) * reflectance, config.blur_px))


def _blurred(image: Floats, sigma_px: float) -> Floats:
    """Blur a periodic tile; areas of one value keep exactly one value."""
    if sigma_px == 0:
        return image
    radius = int(np.ceil(3.0 * sigma_px))
    weights = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma_px) ** 2)
    weights /= weights.sum()
    for axis in (0, 1):
        shifts = zip(range(-radius, radius + 1), weights, strict=True)
        image = sum(weight * np.roll(image, shift, axis) for shift, weight in shifts)
    return np.asarray(image)


def _clearance(log_texture: Singles, alpha: Singles) -> Bytes:
    """Count the rings of flat cells around every cell between four texels.

    A cell is flat if its four texels are equal, or if the layer is transparent there. From a cell
    of clearance c, a displacement of less than c texels changes nothing.
    """
    hidden = _cell_max(alpha) == 0
    even = [_cell_max(image) == -_cell_max(-image) for image in (log_texture, alpha)]
    busy = ~(hidden | (even[0] & even[1]))
    clearance = np.zeros(busy.shape, np.uint8)
    for _ in range(_MAX_CLEARANCE):
        busy = busy | np.roll(busy, 1, 0) | np.roll(busy, -1, 0)
        busy = busy | np.roll(busy, 1, 1) | np.roll(busy, -1, 1)
        if busy.all():
            break
        clearance += ~busy
    return clearance


def _cell_max(image: Singles) -> Singles:
    pairs = np.maximum(image, np.roll(image, -1, 1))
    return np.maximum(pairs, np.roll(pairs, -1, 0))
