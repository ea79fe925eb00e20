"""DND21: clean recordings, and recordings of noise alone."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from evcrisp.core.errors import ConfigError
from evcrisp.core.registry import lookup
from evcrisp.experiments.datasets import Clip, Layout

NOISE_FOLDER = "measured-noise"

#: Words in the names of the sequences (folder or file).
SEQUENCES = ("hotel", "driving")

#: Name of simulated noise that is uniform in space and time.
UNIFORM = "uniform"

#: Name of a measured noise -> words in the name of its file.
NOISES = {
    "light": "light background activity",
    "dark-ba": "dark ba activity",
    "dark-5hz": "noise dark 5p3hz",
    "leak": "leak noise",
}

_SUFFIXES = ("*.aedat", "*.aedat2", "*.aedat4")


@dataclass(frozen=True, slots=True)
class Dnd21:
    """A folder per sequence with its AEDAT file, and ``measured-noise`` with the noise files.

    Without ``measured-noise``, only recordings with the name of a sequence are used, since any
    folder can hold AEDAT files.
    """

    name: ClassVar[str] = "dnd21"
    title: ClassVar[str] = "DND21"
    source: ClassVar[str] = (
        "the page 'datasets' of the site DND21 of the Sensors group, Institute of Neuroinformatics, "
        "Zurich (sites.google.com/view/dnd21)"
    )

    def layout(self, root: Path) -> Layout:
        """Find the clean sequences, and the noise files that are missing."""
        clips = tuple(
            Clip(
                name=path.relative_to(root).with_suffix("").as_posix(),
                path=path,
                group=(path.parent.name if path.parent != root else path.stem,),
                files=(path,),
            )
            for path in _sequences(root)
        )
        problems = [] if clips else [_NOTHING]
        present = noise_files(root)
        problems += [
            f"{NOISE_FOLDER} has no file '...{words}.aedat' (needed for --noise {name} only)"
            for name, words in NOISES.items()
            if name not in present
        ]
        beside = tuple(_recordings(root / NOISE_FOLDER)) if clips else ()
        return Layout(clips=clips, problems=tuple(problems), beside=beside)


_NOTHING = (
    f"there is no *.aedat file of a sequence ({' or '.join(SEQUENCES)} in its name or that of its "
    f"folder, or any beside the folder {NOISE_FOLDER})"
)


def _sequences(root: Path) -> list[Path]:
    """Return recordings without noise files, if a name or folder identifies DND21."""
    is_dnd21 = (root / NOISE_FOLDER).is_dir()
    found = []
    for path in _recordings(root):
        inside = path.relative_to(root)
        is_named = any(word in inside.as_posix().lower() for word in SEQUENCES)
        if NOISE_FOLDER not in inside.parts and (is_dnd21 or is_named):
            found.append(path)
    return found


def check_noise(name: str) -> None:
    """Raise unless a noise is uniform or one of the measured ones."""
    lookup(dict.fromkeys((UNIFORM, *NOISES)), name, "noise")


def noise_files(root: Path) -> dict[str, Path]:
    """Return the noise recordings that exist, by the names of ``NOISES``."""
    files = _recordings(root / NOISE_FOLDER)
    found = {
        name: next((path for path in files if words in path.name.lower()), None)
        for name, words in NOISES.items()
    }
    return {name: path for name, path in found.items() if path is not None}


def noise_file(root: Path, name: str) -> Path:
    """Return one noise recording; raise with its source if it is missing."""
    words = lookup(NOISES, name, "measured noise")
    path = noise_files(root).get(name)
    if path is None:
        raise ConfigError(
            f"{root / NOISE_FOLDER} has no file '...{words}.aedat'. Get it from {Dnd21.source}."
        )
    return path


def _recordings(folder: Path) -> list[Path]:
    return sorted({path for suffix in _SUFFIXES for path in folder.rglob(suffix)})
