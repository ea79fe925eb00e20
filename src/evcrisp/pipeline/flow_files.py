"""Flow of every window of a recording, as files in a folder."""

import csv
import re
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from evcrisp.core.camera import Camera
from evcrisp.core.errors import OutputError, Setting
from evcrisp.core.events import Events
from evcrisp.core.flow import Flow
from evcrisp.core.messages import counted
from evcrisp.core.registry import build, lookup
from evcrisp.estimators.estimate import model_for
from evcrisp.estimators.protocol import Estimator
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.estimators.result import Estimate
from evcrisp.io.atomic_output import making_folder, naming, refuse_inputs, replacing, withdrawing
from evcrisp.io.flow.formats import FLOW_FORMATS, FlowFormat, fitting
from evcrisp.io.reading import opened
from evcrisp.io.recording import Recording
from evcrisp.motion import MotionModel
from evcrisp.pipeline.camera_motion.recorded_camera import camera_for
from evcrisp.pipeline.cancellation import CancellationToken
from evcrisp.pipeline.tracking import track
from evcrisp.pipeline.windowing import Windowing

_TABLE = "flow.csv"
_COLUMNS = (
    "window", "file", "t_start_us", "t_end_us", "valid_share", "mean_speed [px/s]", "status",
    "warnings",
)  # fmt: skip
_FILE_NAME = re.compile(rf"flow-\d{{6,}}\.({'|'.join(FLOW_FORMATS)})")


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowFiles:
    """Files of :func:`write_flow_files`."""

    folder: Path
    table: Path  # flow.csv
    files: tuple[Path, ...]  # one per window, in order
    is_cut: bool  # whether the run was cancelled, and windows are missing


def write_flow_files(
    source: Recording | str | PathLike[str],
    folder: str | PathLike[str],
    *,
    format: str = "npz",
    method: str | Estimator = "auto",
    motion: str | MotionModel = "auto",
    camera: Camera | None = None,
    windowing: Windowing | None = None,
    device: str | None = None,
    deterministic: bool = False,
    overwrite: bool = False,
    on_chunk: Callable[[Events], None] | None = None,
    cancellation: CancellationToken | None = None,
    **params: Any,
) -> FlowFiles:
    """Estimate the flow of every window of a recording, and write it to a folder.

    Parameters
    ----------
    source : Recording or path
        Streamed once; memory is bounded by the windows.
    folder : path
        Created if it does not exist. Gets ``flow-000000.npz`` and so on, one file per window, and
        ``flow.csv``: time, share of valid pixels, mean speed, status and warnings of each window.
        The files appear together at the end, ``flow.csv`` last.
    format : {"npz", "flo", "png"}
        Format of the files; see :func:`evcrisp.write_flow`. Displacements that the format does not
        hold are not valid in the file, and its row has a warning.
    method, motion, camera, windowing, device, deterministic, **params
        As for :func:`evcrisp.track`.
    overwrite : bool
        Replace existing files; those of further windows of an earlier run are removed.
    on_chunk : callable, optional
        Called with the new events of every window, for progress.
    cancellation : CancellationToken, optional
        Ends the run early. Finished windows are written then; existing files stay as they are.

    Raises
    ------
    OutputError
        If the folder has flow files already, and ``overwrite`` is False.
    KeyboardInterrupt
        If the run was cancelled and nothing was written.

    Examples
    --------
    >>> import evcrisp, tempfile
    >>> path = Path(tempfile.mkdtemp()) / "scene.npz"
    >>> scene = evcrisp.simulate(theta=(300, -120), duration_us=60_000, seed=1)
    >>> _ = evcrisp.write(path, scene.events)
    >>> result = write_flow_files(path, path.parent / "flow")
    >>> [file.name for file in result.files]
    ['flow-000000.npz', 'flow-000001.npz', 'flow-000002.npz']
    >>> flow = evcrisp.read_flow(result.files[0])
    >>> bool(np.abs(np.nanmean(flow.velocity, axis=(0, 1)) - (300, -120)).max() < 20)
    True
    """
    folder = Path(folder)
    form = lookup(FLOW_FORMATS, format, "flow format")
    cancellation = CancellationToken() if cancellation is None else cancellation
    estimator = build(ESTIMATORS, method, "method", **params)
    names: list[str] = []
    with ExitStack() as stack:
        recording = stack.enter_context(opened(source))
        refuse_inputs(folder / _TABLE, recording.path)
        old = _old_files(folder, overwrite=overwrite)
        for path in old:
            refuse_inputs(path, recording.path)
        camera = camera_for(recording, motion, camera)
        model = model_for(motion, recording.resolution, camera, estimator)
        estimates = track(
            recording, estimator, model, windowing=windowing, device=device,
            deterministic=deterministic,
        )  # fmt: skip
        stack.enter_context(making_folder(folder))
        # The stack renames the files from the last to the first: the table appears last.
        table = stack.enter_context(replacing(folder / _TABLE, overwrite=overwrite))
        rows: list[tuple[object, ...]] = [_COLUMNS]
        n_seen = 0
        for result in cancellation.until_cancelled(estimates):
            name = f"flow-{len(names):06d}{form.suffix}"
            refuse_inputs(folder / name, recording.path)
            temporary = stack.enter_context(replacing(folder / name, overwrite=overwrite))
            flow, warnings = _fitted(result, form)
            form.write(temporary, flow)
            rows.append(_row(len(names), name, flow, result, warnings))
            names.append(name)
            window = result.window
            n_end = window.index + len(window.events)
            if on_chunk is not None:
                on_chunk(window.events[max(n_seen - window.index, 0) :])
            n_seen = max(n_seen, n_end)
        stack.enter_context(withdrawing(folder / _TABLE, overwrite=overwrite))
        if cancellation.was_cut and (old or not names):
            raise KeyboardInterrupt
        with naming(table), table.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    for path in old:
        if path.name not in (*names, _TABLE):
            path.unlink(missing_ok=True)
    files = tuple(folder / name for name in names)
    return FlowFiles(folder=folder, table=folder / _TABLE, files=files, is_cut=cancellation.was_cut)


def _fitted(result: Estimate, form: FlowFormat) -> tuple[Flow, tuple[str, ...]]:
    """Return the flow with the pixels that the format holds, and the warnings of the window."""
    flow = result.flow()
    fits = fitting(flow, form)
    n_beyond = int(np.count_nonzero(~fits))
    if n_beyond == 0:
        return flow, result.warnings
    warning = (
        f"{counted(n_beyond, 'pixel moves', 'pixels move')} farther than {form.suffix} files hold, "
        "and are not valid: use shorter windows or .npz."
    )
    kept = Flow(flow.velocity, flow.valid & fits, flow.t_start, flow.t_end)
    return kept, (*result.warnings, warning)


def _row(
    number: int, name: str, flow: Flow, result: Estimate, warnings: tuple[str, ...]
) -> tuple[object, ...]:
    known = flow.velocity[flow.valid].astype(np.float64)
    speed = float(np.hypot(*known.T).mean()) if len(known) else np.nan
    # No commas: not every reader of CSV files understands quotes.
    text = " | ".join(warnings).replace(",", ";")
    share = f"{flow.valid.mean():.6g}"
    status = result.status.name.lower()
    return number, name, flow.t_start, flow.t_end, share, f"{speed:.6g}", status, text


def _old_files(folder: Path, *, overwrite: bool) -> list[Path]:
    """Return the files of an earlier run; raise if they must not be replaced."""
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    old = [path for path in found if path.name == _TABLE or _FILE_NAME.fullmatch(path.name)]
    if old and not overwrite:
        remedy = Setting("Replace it", "overwrite", True)
        raise OutputError(f"{old[0]} exists already.", remedy=remedy)
    return [path for path in old if path.name in _listed(folder / _TABLE)]


def _listed(table: Path) -> set[str]:
    """Return the names of the files in a table, and its own; other files are not ours."""
    try:
        with table.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error):
        return set()
    return {table.name, *(row.get("file") or "" for row in rows)}
