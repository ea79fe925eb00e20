"""Estimate the flow of many recordings side by side."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from evcrisp.core.camera import Camera
from evcrisp.core.registry import build, lookup
from evcrisp.estimators.protocol import Estimator
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.io.flow.formats import FLOW_FORMATS
from evcrisp.motion import MotionModel
from evcrisp.pipeline.flow_files import write_flow_files
from evcrisp.pipeline.many.batch import Batch, BatchResult
from evcrisp.pipeline.many.one_file import BatchOptions, sums
from evcrisp.pipeline.many.run_task import AllOrNothing, RunTask, check_motion
from evcrisp.pipeline.run_outputs import RunSettings
from evcrisp.pipeline.windowing import Windowing, checked_windowing


@dataclass(frozen=True, slots=True)
class FlowTask(RunTask):
    """Estimate the flow of one recording; ``run.to`` is the format of its files."""

    def __call__(self, source: Path, target: Path, *, overwrite: bool) -> dict[str, Any]:
        """Write the folder of flow files; return their number."""
        with self.open(source) as recording:
            chosen = self.settings_for(recording)
            result = write_flow_files(
                recording,
                target,
                format=str(chosen.to),
                method=chosen.method,
                motion=chosen.motion,
                camera=chosen.camera,
                windowing=chosen.windowing,
                device=chosen.device,
                deterministic=chosen.deterministic,
                overwrite=overwrite,
                cancellation=AllOrNothing(),
            )
        return {"output": result.table.name, "n_windows": len(result.files)}


def flow_many(
    paths: Iterable[str | PathLike[str]],
    folder: str | PathLike[str],
    *,
    format: str = "npz",
    method: str | Estimator = "auto",
    motion: str | MotionModel = "auto",
    camera: Camera | None = None,
    windowing: Windowing | None = None,
    device: str | None = None,
    deterministic: bool = False,
    params: Mapping[str, Any] | None = None,
    opening: Mapping[str, Any] | None = None,
    **batch: Unpack[BatchOptions],
) -> BatchResult:
    """Write the flow of many recordings side by side; each has a folder with its name.

    Parameters
    ----------
    paths, folder, camera, opening, **batch
        As for :func:`evcrisp.run_many`.
    format, method, motion, windowing, device, deterministic
        As for :func:`evcrisp.write_flow_files`.
    params : mapping, optional
        Parameters of the method.

    Examples
    --------
    >>> import evcrisp, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = evcrisp.write(folder / "a.npz", evcrisp.simulate(duration_us=60_000, seed=1).events)
    >>> result = flow_many([folder], folder / "flow", motion="translation", jobs=0)
    >>> result.summary["totals"]["n_windows"]
    3
    """
    lookup(FLOW_FORMATS, format, "flow format")
    check_motion(motion)
    settings = RunSettings(
        method=build(ESTIMATORS, method, "method", **(params or {})),
        motion=motion,
        camera=camera,
        windowing=checked_windowing(windowing),
        to=format,
        device=device,
        deterministic=deterministic,
    )
    task = FlowTask(settings, dict(opening or {}))
    where = Batch(format=task.opening.get("format"), **batch)
    return where.process(paths, folder, task, lambda facts: sums(facts, "n_windows"))
