"""Make events that reach every kernel of a method: several motions, a turn, noise, a hot pixel."""

from collections.abc import Iterator

import numpy as np

from evcrisp.core.events import Events

_RESOLUTION = (160, 120)
#: Length of a scene, us.
WARM_UP_US = 30_000
_N_POINTS, _N_TIMES = 120, 50
#: More signal than tests of a motion take: they choose some of it.
_MANY_TIMES = 200


def warm_up_scenes() -> Iterator[Events]:
    """Yield the events of short scenes, each of one window of 30 ms."""
    rng = np.random.default_rng(0)
    yield _scene(rng, ((120.0, 30.0), (-300.0, 100.0), (60.0, -350.0)))
    yield _scene(rng, ((200.0, 0.0),), turn=9.0)
    yield _scene(rng, ((200.0, 0.0),), growth=8.0)
    yield _scene(rng, ((150.0, -80.0),), n_times=_MANY_TIMES)
    yield _scene(rng, (), n_dense=20_000)
    yield _scene(rng, ())
    yield _scene(rng, ())[:50]


def _scene(
    rng: np.random.Generator,
    velocities: tuple[tuple[float, float], ...],
    turn: float = 0.0,
    growth: float = 0.0,
    n_times: int = _N_TIMES,
    n_dense: int = 0,
) -> Events:
    """Return points that move with each velocity, px/s, in a part of the view of their own.

    Each point makes ``n_times`` events. ``n_dense`` events are noise in the left quarter of the view.
    """
    width, height = _RESOLUTION
    n_noise = 2_000
    parts = [rng.uniform(0, (width, height, WARM_UP_US), (n_noise, 3))]
    parts.append(rng.uniform(0, (width / 4, height, WARM_UP_US), (n_dense, 3)))
    parts.append(np.column_stack((np.full((80, 2), 60.0), np.linspace(0, WARM_UP_US - 1, 80))))
    for k, (vx, vy) in enumerate(velocities):
        left, right = k * width / len(velocities), (k + 1) * width / len(velocities)
        place = rng.uniform((left, 0), (right, height), (_N_POINTS, 2))
        t = rng.uniform(0, WARM_UP_US, (_N_POINTS, n_times))
        dt = (t - WARM_UP_US / 2) / 1e6
        x, y = place[:, :1] - width / 2, place[:, 1:] - height / 2
        moved_x = x + (vx - turn * y + growth * x) * dt + width / 2
        moved_y = y + (vy + turn * x + growth * y) * dt + height / 2
        parts.append(np.column_stack((moved_x.ravel(), moved_y.ravel(), t.ravel())))
    rows = np.concatenate(parts)
    is_inside = ((rows[:, :2] >= 0) & (rows[:, :2] < (width, height))).all(axis=1)
    rows = rows[is_inside]
    rows = rows[np.argsort(rows[:, 2], kind="stable")]
    x, y, t = rows.T.astype(np.int64)
    return Events(x=x, y=y, t=t, p=rng.integers(0, 2, len(rows)), resolution=_RESOLUTION)
