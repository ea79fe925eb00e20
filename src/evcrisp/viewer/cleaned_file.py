"""Write the events that a method or a filter keeps to a file, for download."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evcrisp.core.registry import build
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.filters import build_filter
from evcrisp.io.reading import open_recording
from evcrisp.io.registry import WRITERS
from evcrisp.pipeline.filter_recording import filter_recording
from evcrisp.pipeline.run import run
from evcrisp.pipeline.run_log import stem_of
from evcrisp.pipeline.windowing import Windowing

if TYPE_CHECKING:
    from evcrisp.core.camera import Camera
    from evcrisp.core.events import Events
    from evcrisp.io.recording import Recording
    from evcrisp.viewer.requests import Request


def write_cleaned(
    path: str,
    opening: dict[str, Any],
    folder: str,
    request: "Request",
    camera: "Camera | None",
    on_progress: Callable[[float], None],
) -> str:
    """Clean a whole recording, and return the path of the new file in ``folder``."""
    with open_recording(path, **opening) as recording:

        def on_chunk(events: "Events") -> None:
            if recording.fraction_read is not None:
                on_progress(float(recording.fraction_read))

        target = Path(tempfile.mkdtemp(prefix="saved-", dir=folder))
        if request.kind == "save_filtered":
            return _filtered(recording, target, request, on_chunk)
        fixed = None if request.windows == "auto" else request.duration_us
        result = run(
            recording, target, camera=camera, motion=request.motion, on_chunk=on_chunk,
            method=build(ESTIMATORS, request.method, "method", **request.method_options),
            windowing=Windowing() if fixed is None else Windowing(window_us=fixed),
        )  # fmt: skip
        return _one_file(result.cleaned)


def _filtered(
    recording: "Recording", target: Path, request: "Request", on_chunk: Callable[..., None]
) -> str:
    writer = WRITERS[recording.format if recording.format in WRITERS else "npz"]()
    name = f"{stem_of(recording)}.{request.filter}{writer.suffixes[0]}"
    config = build_filter(request.filter, **request.filter_options)
    return _one_file(filter_recording(recording, target / name, config, on_chunk=on_chunk).path)


def _one_file(path: Path) -> str:
    """Return the path of a file; a folder is packed first."""
    return shutil.make_archive(str(path), "zip", path) if path.is_dir() else str(path)
