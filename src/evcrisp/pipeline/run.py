"""Clean a recording and estimate its motion; write the results to a folder."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from evcrisp.core.camera import Camera
from evcrisp.core.events import Events
from evcrisp.core.registry import build
from evcrisp.estimators.protocol import Estimator
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.io.protocol import Writer
from evcrisp.io.reading import opened
from evcrisp.io.recording import Recording
from evcrisp.motion import MotionModel
from evcrisp.pipeline.cancellation import CancellationToken
from evcrisp.pipeline.run_outputs import RunSettings, open_outputs, write_estimates
from evcrisp.pipeline.windowing import Windowing, checked_windowing


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """Files of a run, and its summary: that of ``summary.json`` plus ``elapsed_s``."""

    folder: Path
    cleaned: Path
    labels: Path
    motion: Path
    layers: Path
    summary: dict[str, Any] = field(repr=False)


def run(
    source: Recording | str | PathLike[str],
    folder: str | PathLike[str],
    *,
    method: str | Estimator = "auto",
    motion: str | MotionModel = "auto",
    camera: Camera | None = None,
    windowing: Windowing | None = None,
    to: str | Writer | None = None,
    device: str | None = None,
    deterministic: bool = False,
    overwrite: bool = False,
    on_chunk: Callable[[Events], None] | None = None,
    cancellation: CancellationToken | None = None,
    **params: Any,
) -> RunResult:
    """Clean a recording, estimate its motion, and write the results to a folder.

    A long recording is processed in pieces of 4 million events, each after a warm-up, so that the
    results are the same as those of several processes, see :func:`evcrisp.run_many`.

    Parameters
    ----------
    source : Recording or path
        Streamed once; memory is bounded by the windows.
    folder : path
        Created if it does not exist. Gets the cleaned recording, ``labels.npz``, ``motion.csv`` (a
        row per window), ``layers.csv`` (a row per object and window) and ``summary.json``, each
        complete or not at all. Windows without a motion have NaN in ``motion.csv``; its last column
        has the warnings. Events that came with labels keep them.
    method, motion, camera, windowing, device, deterministic, **params
        As for :func:`evcrisp.track`.
    to : str or Writer, optional
        Format of the cleaned recording, or the suffix of its file. Default: that of the input,
        or AEDAT4 if it is not written. A warning names the streams that the format does not keep.
    overwrite : bool
        Replace existing results, unless they are those of another recording.
    on_chunk : callable, optional
        Called with every chunk of cleaned events, for progress.
    cancellation : CancellationToken, optional
        Ends the run early. Finished windows are written then, and the summary says so; existing
        results stay as they are.

    Raises
    ------
    ConfigError
        If a name or a setting is wrong, or the folder holds results of another recording.
    KeyboardInterrupt
        If the run was cancelled and nothing was written.

    Examples
    --------
    >>> import evcrisp, tempfile
    >>> path = Path(tempfile.mkdtemp()) / "scene.npz"
    >>> _ = evcrisp.write(path, evcrisp.simulate(duration_us=60_000, seed=1).events)
    >>> result = run(path, path.parent / "result")
    >>> result.cleaned.name, result.summary["n_windows"]
    ('scene.clean.npz', 3)
    """
    settings = RunSettings(
        method=build(ESTIMATORS, method, "method", **params),
        motion=motion,
        camera=camera,
        windowing=checked_windowing(windowing),
        to=to,
        device=device,
        deterministic=deterministic,
    )
    with opened(source) as recording:
        return run_settings(
            recording,
            Path(folder),
            settings,
            overwrite,
            on_chunk=on_chunk,
            cancellation=cancellation,
        )


def run_settings(
    recording: Recording,
    folder: Path,
    settings: RunSettings,
    overwrite: bool,
    *,
    on_chunk: Callable[[Events], None] | None = None,
    cancellation: CancellationToken | None = None,
) -> RunResult:
    """Do a run with checked settings; parameters as for `run`."""
    start = time.perf_counter()
    cancellation = CancellationToken() if cancellation is None else cancellation
    setup = settings.on(recording)
    with open_outputs(folder, setup, overwrite=overwrite, on_chunk=on_chunk) as outputs:
        estimates = cancellation.until_cancelled(setup.estimates())
        outputs.n_pieces = write_estimates(estimates, outputs)
        outputs.is_stopped = cancellation.was_cut
        if cancellation.was_cut and (outputs.had_results or not outputs.log.n_windows):
            raise KeyboardInterrupt
    return RunResult(
        folder=folder,
        cleaned=folder / setup.clean_name,
        labels=folder / "labels.npz",
        motion=folder / "motion.csv",
        layers=folder / "layers.csv",
        # The file has no times: the same input gives the same bytes.
        summary={**outputs.summary, "elapsed_s": round(time.perf_counter() - start, 3)},
    )
