"""Clean one recording on a worker."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evcrisp.core.registry import lookup
from evcrisp.io.reading import open_recording
from evcrisp.io.recording import Recording
from evcrisp.motion import MotionModel
from evcrisp.motion.open_motion import OPEN_MOTIONS
from evcrisp.motion.registry import MOTION_MODELS
from evcrisp.pipeline.camera_motion.region_camera import region_camera
from evcrisp.pipeline.cancellation import CancellationToken
from evcrisp.pipeline.many.settings import settings_facts
from evcrisp.pipeline.run import run_settings
from evcrisp.pipeline.run_outputs import RunSettings

#: Facts of a recording in the summary over all.
_FACTS = (
    "input", "output", "resolution", "n_events", "n_kept", "n_windows", "n_reliable", "statuses",
    "doubts", "damage",
)  # fmt: skip


class AllOrNothing(CancellationToken):
    """Ctrl+C ends a run without results: the next call starts it again."""

    def until_cancelled(self, items: Any) -> Any:
        """Yield all items."""
        yield from items


@dataclass(frozen=True, slots=True)
class RunTask:
    """Clean one recording, or a piece of it."""

    run: RunSettings  # its camera is that of the whole sensor
    opening: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, source: Path, target: Path, *, overwrite: bool) -> dict[str, Any]:
        """Write the folder of results; return some facts of its summary."""
        with self.open(source) as recording:
            settings = self.settings_for(recording)
            result = run_settings(
                recording, target, settings, overwrite, cancellation=AllOrNothing()
            )
        return self.facts(result.summary)

    def open(self, source: Path, **part: Any) -> Recording:
        """Open a recording, or a part of it."""
        return open_recording(source, **{**self.opening, **part})

    def settings_for(self, recording: Recording) -> RunSettings:
        """Return the settings with the camera of the region that is read."""
        camera = region_camera(self.run.camera, recording, self.run.motion)
        return replace(self.run, camera=camera)

    def facts(self, summary: Mapping[str, Any]) -> dict[str, Any]:
        """Return the facts for the summary over all."""
        return {name: summary[name] for name in _FACTS}

    def target(self, folder: Path, name: str) -> Path:
        """Return the folder of results."""
        return folder / name

    def settings(self) -> dict[str, Any] | None:
        """Return the settings as JSON types."""
        chosen = self.run
        return settings_facts(
            {
                "method": chosen.method,
                "motion": chosen.motion,
                "camera": chosen.camera,
                "windows": chosen.windowing.facts(),
                "to": chosen.to,
                "device": chosen.device,
                "deterministic": chosen.deterministic,
                "opening": dict(self.opening),
            }
        )


def check_motion(motion: str | MotionModel) -> None:
    """Raise for an unknown name before any recording is read."""
    if isinstance(motion, str) and motion not in OPEN_MOTIONS:
        lookup(MOTION_MODELS, motion, "motion model")
