"""Files of a run: what they are made of, and how they are written and completed."""

import json
import logging
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from evcrisp.core.camera import Camera
from evcrisp.core.events import Events
from evcrisp.core.windows import ordered_chunks
from evcrisp.estimators.estimate import model_for
from evcrisp.estimators.protocol import Estimator
from evcrisp.estimators.result import Estimate
from evcrisp.io.atomic_output import making_folder, naming, replacing, withdrawing
from evcrisp.io.protocol import Writer
from evcrisp.io.recording import Recording
from evcrisp.io.writing import ChunkWriter, writer_like
from evcrisp.motion import MotionModel
from evcrisp.pipeline import labels_file, run_log
from evcrisp.pipeline.camera_motion.recorded_camera import camera_for, camera_source
from evcrisp.pipeline.label_merging import LabeledChunk, LabelMerger
from evcrisp.pipeline.pieces.estimation import PieceMethod
from evcrisp.pipeline.pieces.plan import SIZES, Marks, PieceSizes
from evcrisp.pipeline.pieces.streaming import streamed_pieces
from evcrisp.pipeline.window_objects import WindowObjects
from evcrisp.pipeline.windowing import Windowing

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """Settings of a run, without the recording."""

    method: Estimator
    motion: str | MotionModel
    camera: Camera | None
    windowing: Windowing
    to: str | Writer | None = None
    sizes: PieceSizes = SIZES
    device: str | None = None  # None and "cpu": the compiled kernels
    deterministic: bool = False

    def on(self, recording: Recording) -> "RunSetup":
        """Return the settings with what the recording decides."""
        camera = camera_for(recording, self.motion, self.camera)
        writer, suffix = writer_like(recording, self.to)
        return RunSetup(
            settings=self,
            recording=recording,
            camera=camera,
            model=model_for(self.motion, recording.resolution, camera, self.method),
            writer=writer,
            clean_name=f"{run_log.stem_of(recording)}.clean{suffix}",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSetup:
    """Settings of a run on one recording."""

    settings: RunSettings
    recording: Recording
    camera: Camera | None
    model: MotionModel
    writer: Writer
    clean_name: str

    @property
    def method(self) -> PieceMethod:
        """How pieces are estimated."""
        chosen, size = self.settings, self.recording.resolution
        return PieceMethod(
            chosen.method, self.model, size, chosen.windowing, chosen.sizes, chosen.device,
            chosen.deterministic,
        )  # fmt: skip

    @property
    def marks(self) -> Marks:
        """Where pieces start."""
        return Marks(self.settings.windowing, self.settings.sizes)

    def estimates(self) -> Iterator[tuple[int, Estimate]]:
        """Yield the estimates of all windows, each with the number of its piece."""
        method, chunks = self.method, ordered_chunks(self.recording.chunks())
        for part in streamed_pieces(chunks, self.marks):
            for result in method.estimates(part):
                yield part.piece.number, result

    def facts(self) -> dict[str, Any]:
        """Return the first facts of the summary: input and settings."""
        estimator = self.settings.method
        return {
            **run_log.input_facts(self.recording, self.clean_name),
            "method": getattr(estimator, "name", type(estimator).__name__),
            "motion": self.model.name,
            "config": run_log.config_facts(estimator),
            "windows": self.settings.windowing.facts(),
            "camera": run_log.config_facts(self.camera),
            "camera_source": camera_source(self.settings.camera, self.camera),
            **self._device_facts(),
        }

    def _device_facts(self) -> dict[str, Any]:
        """Return the device, if it is not the CPU: its results differ in the last digits."""
        device = self.settings.device
        return {} if device in (None, "cpu") else {"device": device}


class ResultSink(Protocol):
    """Takes the results of a recording, or of a piece of it, in order."""

    def write_window(self, result: Estimate) -> None:
        """Take a window."""
        ...

    def write_labels(self, chunk: LabeledChunk) -> None:
        """Take events with their final labels."""
        ...

    def end_piece(self) -> None:
        """Take the end of a piece that another one follows."""
        ...


def write_estimates(estimates: Iterator[tuple[int, Estimate]], sink: ResultSink) -> int:
    """Write windows with the number of their piece, and their labels; return the number of pieces."""
    merger, last = LabelMerger(), 0
    for number, result in estimates:
        if number != last:  # windows of two pieces share no event
            for chunk in merger.finish():
                sink.write_labels(chunk)
            sink.end_piece()
            merger, last = LabelMerger(), number
        sink.write_window(result)
        for chunk in merger.add(result):
            sink.write_labels(chunk)
    for chunk in merger.finish():
        sink.write_labels(chunk)
    return last + 1


@dataclass(slots=True, kw_only=True)
class RunOutputs:
    """Open files of a run; ``summary`` is set when they are complete."""

    motions: run_log.MotionFile
    layers: run_log.LayersFile
    labels: labels_file.LabelsFile
    cleaned: ChunkWriter
    log: run_log.RunLog
    had_results: bool
    on_chunk: Callable[[Events], None] | None = None
    n_pieces: int = 1
    is_stopped: bool = False
    summary: dict[str, Any] = field(default_factory=dict)

    def write_window(self, result: Estimate) -> None:
        """Write the motion and the objects of a window."""
        self.log.add_window(result)
        self.motions.write_window(result)
        self.layers.write_window(WindowObjects.of(result))

    def write_labels(self, chunk: LabeledChunk) -> None:
        """Write labels, and the events that are kept."""
        self.labels.write(labels_file.label_columns(chunk))
        self.log.add_labels(chunk)
        self.write_kept(chunk.kept())

    def end_piece(self) -> None:
        """Make the bytes of the next piece those that it has alone."""
        self.cleaned.end_part()

    def write_kept(self, kept: Events) -> None:
        """Write events of the cleaned recording."""
        self.cleaned.write(kept)
        if self.on_chunk is not None:
            self.on_chunk(kept)


@contextmanager
def open_outputs(
    folder: Path,
    setup: RunSetup,
    *,
    overwrite: bool,
    on_chunk: Callable[[Events], None] | None = None,
) -> Generator[RunOutputs, None, None]:
    """Open the files of a run; they appear together after the block, the summary last."""
    recording, model = setup.recording, setup.model
    # Where the summary is, the other files belong to it.
    names = ("summary.json", "layers.csv", "motion.csv", "labels.npz", setup.clean_name)
    had_results = run_log.has_results(folder, names, recording, overwrite=overwrite)
    expected = recording.resolution, recording.n_indexed
    with ExitStack() as stack:
        stack.enter_context(making_folder(folder))
        summary_path, layers_path, motion_path, labels_path, clean_path = (
            stack.enter_context(replacing(folder / name, overwrite=overwrite)) for name in names
        )
        stack.enter_context(withdrawing(folder / names[0], overwrite=overwrite))
        with (
            closing(run_log.MotionFile(motion_path, model)) as motions,
            closing(run_log.LayersFile(layers_path)) as layers,
            closing(labels_file.LabelsFile(labels_path, *expected)) as labels,
            ChunkWriter(clean_path, setup.writer, sensor_data_from=recording) as cleaned,
        ):
            outputs = RunOutputs(
                motions=motions, layers=layers, labels=labels, cleaned=cleaned,
                log=run_log.RunLog(model), had_results=had_results, on_chunk=on_chunk,
            )  # fmt: skip
            yield outputs
            if not cleaned.is_open:
                cleaned.write(Events.empty(recording.resolution))
            labels.finish()
        log = outputs.log
        outputs.summary = {
            **setup.facts(),
            **log.counts(recording),
            **({"n_pieces": outputs.n_pieces} if outputs.n_pieces > 1 else {}),
            "stopped": outputs.is_stopped,
        }
        if (advice := log.live_area_advice()) is not None:
            logger.warning("%s: %s", recording.path, advice)
        with naming(summary_path):
            summary_path.write_text(json.dumps(outputs.summary, indent=2) + "\n")
