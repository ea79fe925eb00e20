"""Clean a recording and estimate its motion; write the results to a folder."""

import json
import logging
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from evcrisp.core.camera import Camera
from evcrisp.core.events import Events
from evcrisp.core.registry import build
from evcrisp.estimators.estimate import model_for
from evcrisp.estimators.protocol import Estimator
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.io.atomic_output import naming, replacing, withdrawing
from evcrisp.io.protocol import Writer
from evcrisp.io.reading import opened
from evcrisp.io.recording import Recording
from evcrisp.io.writing import ChunkWriter, writer_like
from evcrisp.motion import MotionModel
from evcrisp.pipeline import run_log
from evcrisp.pipeline.camera_motion.recorded_camera import camera_for, camera_source
from evcrisp.pipeline.cancellation import CancellationToken
from evcrisp.pipeline.label_merging import LabeledChunk, LabelMerger
from evcrisp.pipeline.tracking import track
from evcrisp.pipeline.windowing import Windowing

logger = logging.getLogger(__name__)


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
    overwrite: bool = False,
    on_chunk: Callable[[Events], None] | None = None,
    cancellation: CancellationToken | None = None,
    **params: Any,
) -> RunResult:
    """Clean a recording, estimate its motion, and write the results to a folder.

    Parameters
    ----------
    source : Recording or path
        Streamed once; memory is bounded by the windows.
    folder : path
        Created if it does not exist. Gets the cleaned recording, ``labels.npz``, ``motion.csv`` (a
        row per window), ``layers.csv`` (a row per object and window) and ``summary.json``, each
        complete or not at all. Windows without a motion have NaN in ``motion.csv``; its last column
        has the warnings. Events that came with labels keep them.
    method, motion, camera, windowing, **params
        As for :func:`evcrisp.track`.
    to : str or Writer, optional
        Format of the cleaned recording. Default: that of the input, or AEDAT4 if it is not
        written. A warning names the streams that the format does not keep.
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
    start = time.perf_counter()
    folder = Path(folder)
    cancellation = CancellationToken() if cancellation is None else cancellation
    windowing = Windowing() if windowing is None else windowing
    estimator = build(ESTIMATORS, method, "method", **params)
    with ExitStack() as stack:
        recording = stack.enter_context(opened(source))
        writer, suffix = writer_like(recording, to)
        clean_name = f"{run_log.stem_of(recording)}.clean{suffix}"
        # The summary appears last: where it is, the other files belong to it.
        names = ("summary.json", "layers.csv", "motion.csv", "labels.npz", clean_name)
        has_old_results = run_log.has_results(folder, names, recording, overwrite=overwrite)
        lens = camera_for(recording, motion, camera)
        model = model_for(motion, recording.resolution, lens, estimator)
        estimates = track(recording, estimator, model, windowing=windowing)
        folder.mkdir(parents=True, exist_ok=True)
        summary_path, layers_path, motion_path, labels_path, clean_path = (
            stack.enter_context(replacing(folder / name, overwrite=overwrite)) for name in names
        )
        stack.enter_context(withdrawing(folder / names[0], overwrite=overwrite))
        log = run_log.RunLog(model)
        with (
            closing(run_log.MotionFile(motion_path, model)) as motions,
            closing(run_log.LayersFile(layers_path)) as layers,
            closing(run_log.LabelsFile(labels_path, recording.resolution)) as labels,
            ChunkWriter(clean_path, writer, sensor_data_from=recording) as cleaned,
        ):
            merger = LabelMerger()
            for result in cancellation.until_cancelled(estimates):
                log.add_window(result)
                motions.write_window(result)
                layers.write_window(result)
                for chunk in merger.add(result):
                    _write_chunk(chunk, labels, cleaned, log, on_chunk)
            for chunk in merger.finish():
                _write_chunk(chunk, labels, cleaned, log, on_chunk)
            if not cleaned.is_open:
                cleaned.write(Events.empty(recording.resolution))
            labels.finish()
        if cancellation.was_cut and (has_old_results or not log.n_windows):
            raise KeyboardInterrupt
        summary = {
            **run_log.input_facts(recording, clean_name),
            "method": getattr(estimator, "name", type(estimator).__name__),
            "motion": model.name,
            "config": run_log.config_facts(estimator),
            "windows": windowing.facts(),
            "camera": run_log.config_facts(lens),
            "camera_source": camera_source(camera, lens),
            **log.counts(recording),
            "stopped": cancellation.was_cut,
        }
        if (advice := log.live_area_advice()) is not None:
            logger.warning("%s: %s", recording.path, advice)
        with naming(summary_path):
            summary_path.write_text(json.dumps(summary, indent=2) + "\n")
    return RunResult(
        folder=folder,
        cleaned=folder / clean_name,
        labels=folder / "labels.npz",
        motion=folder / "motion.csv",
        layers=folder / "layers.csv",
        # The file has no times: the same input gives the same bytes.
        summary={**summary, "elapsed_s": round(time.perf_counter() - start, 3)},
    )


def _write_chunk(
    chunk: LabeledChunk,
    labels: run_log.LabelsFile,
    cleaned: ChunkWriter,
    log: run_log.RunLog,
    on_chunk: Callable[[Events], None] | None,
) -> None:
    kept = chunk.kept()
    labels.write(chunk)
    cleaned.write(kept)
    log.add_labels(chunk)
    if on_chunk is not None:
        on_chunk(kept)
