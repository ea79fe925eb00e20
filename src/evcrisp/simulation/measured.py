"""Noise as measured on a sensor: the intervals between the noise events of single pixels.

The files are those of the simulator IEBCS (D. Joubert et al., "Event camera simulator improvements
via characterized parameters", Frontiers in Neuroscience 2021): ``noise_pos_<lux>.npy`` for ON and
``noise_neg_<lux>.npy`` for OFF. They have one row per measured pixel: cumulative counts of the
frequencies 1 / interval, in bins with lower edges {1..9} x 10^{-3..4} Hz. The last bin is empty.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError
from evcrisp.core.types import Floats
from evcrisp.core.windows import US_PER_S

#: Lower edges of the 72 bins, and the upper edge of the last, Hz.
EDGES_HZ = np.append(np.outer(10.0 ** np.arange(-3, 5), np.arange(1, 10)).ravel(), 1e5)
_N_BINS = EDGES_HZ.size - 1

MeasuredSource = str | Path | Sequence[str | Path]


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Distributions of the intervals of noise events, one for every measured pixel.

    An interval is 1 / frequency. The logarithm of the frequency is uniform within a bin.
    """

    share: Floats  # (n, 72) share of the intervals in each bin; a pixel without events has zeros
    _sorted: Floats = field(init=False, repr=False)  # (n * 72,) row number + cumulative share
    _aged: Floats = field(init=False, repr=False)  # the same, weighted by the length of intervals

    def __post_init__(self) -> None:
        mean_s = np.diff(-1.0 / EDGES_HZ) / np.diff(np.log(EDGES_HZ))
        lasting = self.share * mean_s
        total = lasting.sum(axis=1, keepdims=True)
        aged = np.divide(lasting, total, out=np.zeros_like(lasting), where=total > 0)
        object.__setattr__(self, "_sorted", _numbered(self.share))
        object.__setattr__(self, "_aged", _numbered(aged))

    def __len__(self) -> int:
        return len(self.share)

    @property
    def is_silent(self) -> NDArray[np.bool_]:
        """Which pixels never fire, (n,)."""
        return np.asarray(self.share.max(axis=1) == 0)

    @property
    def rate_hz(self) -> Floats:
        """Mean rate of each pixel, (n,): 1 / mean interval; 0 for a silent pixel."""
        mean_s = np.diff(-1.0 / EDGES_HZ) / np.diff(np.log(EDGES_HZ))
        seconds = self.share @ mean_s
        return np.divide(1.0, seconds, out=np.zeros_like(seconds), where=seconds > 0)

    def draw_us(self, row: NDArray[np.int64], rng: np.random.Generator) -> Floats:
        """Draw one interval for each of some pixels that are not silent, us."""
        return self._draw(self._sorted, row, rng)

    def draw_first_us(self, row: NDArray[np.int64], rng: np.random.Generator) -> Floats:
        """Draw the time from any moment to the next event, us.

        A moment falls into an interval with a chance that grows with its length, and anywhere in it.
        """
        n = row.size
        bins = self._bins(self._aged, row, rng.random(n))
        # Within a bin, the density of an interval that holds the moment is constant in its length.
        longest, shortest = 1.0 / EDGES_HZ[bins], 1.0 / EDGES_HZ[bins + 1]
        length_s = shortest + (longest - shortest) * rng.random(n)
        return US_PER_S * length_s * rng.random(n)

    def _draw(self, ordered: Floats, row: NDArray[np.int64], rng: np.random.Generator) -> Floats:
        bins = self._bins(ordered, row, rng.random(row.size))
        low, high = np.log(EDGES_HZ[bins]), np.log(EDGES_HZ[bins + 1])
        return US_PER_S * np.exp(-(low + (high - low) * rng.random(row.size)))

    def _bins(self, ordered: Floats, row: NDArray[np.int64], chance: Floats) -> NDArray[np.int64]:
        # A little less than 1, so that rounding does not lead to the next row.
        found = np.searchsorted(ordered, row + chance * (1.0 - 1e-9), side="right")
        return found - row * _N_BINS


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredNoise:
    """Noise of the pixels of a real sensor, ON and OFF apart; a row is the same pixel in both."""

    on: Intervals
    off: Intervals

    def __post_init__(self) -> None:
        if len(self.on) != len(self.off):
            raise ConfigError(
                f"`measured` must have as many pixels for ON as for OFF; "
                f"got {len(self.on)} and {len(self.off)}."
            )

    @property
    def digest(self) -> str:
        """Number of the content, for comparisons."""
        content = self.on.share.tobytes() + self.off.share.tobytes()
        return hashlib.sha256(content).hexdigest()[:16]

    @property
    def rate_hz(self) -> float:
        """Mean rate of a pixel, ON and OFF together."""
        return float(self.on.rate_hz.mean() + self.off.rate_hz.mean())


def load_measured(source: Any, lux: str | float | None = None) -> MeasuredNoise:
    """Read measured noise from a folder, or from the files of ON and OFF.

    ``lux`` selects the illumination in a folder with several, as in the names of the files.
    """
    if isinstance(source, MeasuredNoise):
        return source
    if isinstance(source, str | Path):
        paths = _find_pair(Path(source), lux)
    else:
        try:
            paths = tuple(Path(path) for path in source)
        except TypeError:
            paths = ()
        if len(paths) != 2:
            problem = "must be a folder, or the two files of ON and OFF"
            raise ConfigError(problem, parameter="measured", value=source)
    on, off = (Intervals(_read_shares(path)) for path in paths)
    return MeasuredNoise(on, off)


def _find_pair(folder: Path, lux: str | float | None) -> tuple[Path, ...]:
    """Return the files of ON and OFF of one illumination in a folder."""
    if not folder.is_dir():
        problem = "must be a folder with noise_pos_<lux>.npy and noise_neg_<lux>.npy"
        raise ConfigError(problem, parameter="measured", value=str(folder))
    found = sorted(path.name for path in folder.glob("noise_pos_*.npy"))
    levels = [name.removeprefix("noise_pos_").removesuffix(".npy") for name in found]
    known = ", ".join(levels)
    if not levels:
        problem = "holds no file noise_pos_<lux>.npy"
        raise ConfigError(problem, parameter="measured", value=str(folder))
    if lux is not None:
        levels = [level for level in levels if _as_number(level) == _as_number(lux)]
    if len(levels) != 1:
        problem = f"must be one of the illuminations in {folder}: {known}"
        raise ConfigError(problem, parameter="measured_lux", value=lux)
    return tuple(folder / f"noise_{sign}_{levels[0]}.npy" for sign in ("pos", "neg"))


def _as_number(level: str | float) -> str:
    """Return the number of "0.1lux", so that 0.1 and "0.1lux" are equal."""
    number = re.match(r"[0-9.]+", str(level))
    return str(level) if number is None else f"{float(number[0]):g}"


def _read_shares(path: Path) -> Floats:
    """Return the shares of the bins of each measured pixel, (n, 72)."""
    try:
        counts = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ConfigError(f"{path}: not readable as measured noise: {error}.") from error
    wanted = f"{path}: measured noise must be cumulative counts of shape (rows, columns, {_N_BINS})"
    if not isinstance(counts, np.ndarray) or counts.dtype.kind not in "buif":
        raise ConfigError(f"{wanted}; got {getattr(counts, 'dtype', type(counts).__name__)}.")
    if counts.ndim != 3 or counts.shape[-1] != _N_BINS or not counts.size:
        raise ConfigError(f"{wanted}; got shape {counts.shape}.")
    total = counts.reshape(-1, _N_BINS).astype(np.float64)
    # The last bin of the published files is 0 instead of the total.
    total[:, -1] = np.where(total[:, -1] == 0, total[:, -2], total[:, -1])
    if not np.isfinite(total).all() or (total < 0).any() or (np.diff(total, axis=1) < 0).any():
        raise ConfigError(f"{wanted}, which are finite and do not decrease.")
    counts = np.diff(total, axis=1, prepend=0.0)
    return np.divide(counts, total[:, -1:], out=np.zeros_like(counts), where=total[:, -1:] > 0)


def _numbered(share: Floats) -> Floats:
    """Return row number + cumulative share of all rows in one sorted array."""
    cumulative = np.minimum(np.cumsum(share, axis=1), 1.0)
    last = np.maximum(cumulative[:, -1:], 1e-300)
    return (np.arange(len(share))[:, None] + cumulative / last).ravel()
