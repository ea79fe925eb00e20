"""DVSCLEAN: simulated recordings with labels, and real ones without."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from evcrisp.core.errors import FormatError
from evcrisp.core.events import Events
from evcrisp.experiments.datasets import Clip, Layout
from evcrisp.experiments.datasets.sample import Limits, Sample
from evcrisp.io.hdf5.datasets import library

SENSOR = (1280, 720)

#: End of the name of a file -> its group: noise events in percent of the signal events.
RATIOS = {"_50": "50 % noise", "_100": "100 % noise"}


@dataclass(frozen=True, slots=True)
class Dvsclean:
    """``simulated_data/SCENE_50.hdf5`` and ``SCENE_100.hdf5``; columns in the group ``events``.

    The columns are timestamp (us), x, y, polarity and label, 0 for signal. Recordings of ``real_data``
    have no label.
    """

    name: ClassVar[str] = "dvsclean"
    title: ClassVar[str] = "DVSCLEAN"
    source: ClassVar[str] = "the README of the project Fanghuachen/AEDNet on GitHub"

    def layout(self, root: Path) -> Layout:
        """Find the simulated and the real recordings."""
        folders = {name: root / name for name in ("simulated_data", "real_data")}
        clips = []
        for kind, folder in folders.items():
            for path in sorted(p for s in ("*.hdf5", "*.h5") for p in folder.rglob(s)):
                ending = next((end for end in RATIOS if path.stem.endswith(end)), "")
                group = RATIOS.get(ending, "real" if kind == "real_data" else "simulated")
                name = path.relative_to(root).with_suffix("").as_posix()
                clips.append(
                    Clip(
                        name=name,
                        path=path,
                        group=("DVSCLEAN", group),
                        files=(path,),
                        resolution=SENSOR,
                        reader=read_dvsclean,
                    )
                )
        missing = [name for name, folder in folders.items() if not folder.is_dir()]
        problems = [f"the folder {name} is missing" for name in missing]
        return Layout(clips=tuple(clips), problems=tuple(problems))


def read_dvsclean(clip: Clip, limits: Limits) -> Sample:
    """Read the first events of a file, and their labels if it has any."""
    with library().File(clip.path, "r") as file:
        group = file.get("events")
        names = ("x", "y", "timestamp", "polarity")
        if group is None or not all(name in group for name in names):
            raise FormatError(
                f"expected the columns {', '.join(names)} in `events`", path=clip.path
            )
        n = limits.max_events
        x, y, t, p = (np.asarray(group[name][:n]).ravel() for name in names)
        label = np.asarray(group["label"][:n]).ravel() if "label" in group else None
    columns = {"x": x.astype(np.int64), "y": y.astype(np.int64), "t": t.astype(np.int64)}
    signal = None if label is None else label == 0
    events = Events.sorted_from(**columns, p=p >= 0.5, resolution=SENSOR, signal=signal)
    return Sample(events=limits.of(events))
