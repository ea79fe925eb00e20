"""Clean many recordings side by side: one result folder each, and a summary over all."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any

from evcrisp.core.camera import Camera
from evcrisp.core.registry import build, lookup
from evcrisp.estimators.protocol import Estimator
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.io.protocol import Writer
from evcrisp.io.registry import WRITERS
from evcrisp.motion import MotionModel
from evcrisp.pipeline.many.batch import Batch, BatchResult
from evcrisp.pipeline.many.run_task import RunTask, check_motion
from evcrisp.pipeline.many.splitting import split_run
from evcrisp.pipeline.run_outputs import RunSettings
from evcrisp.pipeline.windowing import Windowing, checked_windowing


def run_many(
    paths: Iterable[str | PathLike[str]],
    folder: str | PathLike[str],
    *,
    method: str | Estimator = "auto",
    motion: str | MotionModel = "auto",
    camera: Camera | None = None,
    windowing: Windowing | None = None,
    to: str | Writer | None = None,
    device: str | None = None,
    deterministic: bool = False,
    opening: Mapping[str, Any] | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    overwrite: bool = False,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[str], None] | None = None,
    on_piece: Callable[[str, float], None] | None = None,
    **params: Any,
) -> BatchResult:
    """Clean many recordings side by side; each has the results of `run` in a folder of its own.

    Processes are started by spawn: a script calls this function below ``if __name__ == "__main__":``.

    Parameters
    ----------
    paths : paths
        Recordings, folders that hold recordings, and patterns such as ``"data/*.raw"``.
    folder : path
        Gets a folder per recording with its name, and ``summary.json`` with totals, doubts and
        failures. Recordings with equal names get longer ones, and a warning.
    method, motion, windowing, to, device, deterministic, **params
        As for :func:`evcrisp.run`.
    camera : Camera, optional
        Calibration of the whole sensor, also with a region in ``opening``.
    opening : mapping, optional
        How recordings are opened: keywords of :func:`evcrisp.open`.
    jobs : int, optional
        Recordings at a time, each in a process; 0 = this process. Default: one per processor. With a
        scheduler: number of workers to wait for.
    scheduler : str, optional
        Address of a dask.distributed scheduler, whose workers see the same files.
    overwrite : bool
        Replace existing results. By default, complete results with the same settings, version and
        input are kept; other results in the folder of a recording are a failure.
    on_start, on_done : callable, optional
        Called with the number of recordings, and with the name of each that is finished.

    Examples
    --------
    >>> import evcrisp, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for seed in (1, 2):
    ...     events = evcrisp.simulate(duration_us=60_000, seed=seed).events
    ...     _ = evcrisp.write(folder / f"scene{seed}.npz", events)
    >>> result = run_many([folder], folder / "results", jobs=0)
    >>> sorted(result.outputs), result.failures, result.summary["totals"]["n_windows"]
    (['scene1', 'scene2'], {}, 6)
    >>> run_many([folder], folder / "results", jobs=0).reused
    ('scene1', 'scene2')
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
    task = RunTask(settings, dict(opening or {}))
    check_motion(motion)
    if isinstance(to, str):
        lookup(WRITERS, to, "output format")
    batch = Batch(
        jobs=jobs,
        scheduler=scheduler,
        overwrite=overwrite,
        format=task.opening.get("format"),
        on_start=on_start or (lambda n: None),
        on_done=on_done or (lambda name: None),
        on_piece=on_piece or (lambda name, share: None),
    )
    return batch.process(paths, folder, task, _totals, split_run)


def _totals(facts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return sums over recordings; doubts and statuses are counts of windows."""
    sums: dict[str, Any] = {
        name: sum(one[name] for one in facts)
        for name in ("n_events", "n_kept", "n_windows", "n_reliable")
    }
    for name in ("statuses", "doubts"):
        counts: Counter[str] = Counter()
        for one in facts:
            counts.update(one[name])
        sums[name] = dict(sorted(counts.items()))
    return {**sums, "n_damaged": sum(one["damage"] is not None for one in facts)}
