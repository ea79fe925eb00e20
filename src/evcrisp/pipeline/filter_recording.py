"""Denoise a recording event by event, and write the events that are kept."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.filters import Filter, build_filter, denoise_chunks
from evcrisp.io.arrays.npz import NpzPacker
from evcrisp.io.atomic_output import refuse_inputs, replacing, withdrawing
from evcrisp.io.protocol import Writer
from evcrisp.io.reading import opened
from evcrisp.io.recording import Recording
from evcrisp.io.writing import ChunkWriter, writer_for


@dataclass(frozen=True, slots=True)
class FilterResult:
    """Result of filtering a recording: the files, and the numbers of events."""

    path: Path
    labels: Path | None
    n_events: int
    n_kept: int


def filter_recording(
    source: str | PathLike[str] | Recording,
    target: str | PathLike[str],
    method: str | Filter = "baf",
    preset: str | None = None,
    *,
    labels: str | PathLike[str] | None = None,
    format: str | Writer | None = None,
    overwrite: bool = False,
    on_chunk: Callable[[Events], None] | None = None,
    device: str | None = None,
    **params: object,
) -> FilterResult:
    """Write the events of a recording that a filter keeps, in bounded memory.

    Parameters
    ----------
    source : path or Recording
        The input. Sensor data and true labels are kept if the output format can hold them.
    target : path
        The output. All outputs appear together when they are complete.
    method, preset, **params
        Filter and its parameters, as for :func:`evcrisp.denoise`.
    labels : path, optional
        An .npz file for ``signal`` and ``score`` of every event of the input.
    format : str or Writer, optional
        Output format. Default: from the suffix of ``target``.
    overwrite : bool
        Replace existing outputs, except the input itself.
    on_chunk : callable, optional
        Called with every chunk of labeled events, for progress.
    device : str, optional
        "cpu" (default), "cuda" or "auto", as for :func:`evcrisp.denoise`.

    Examples
    --------
    >>> import evcrisp, tempfile
    >>> events = Events(x=[3, 4, 7], y=[1, 1, 3], t=[0, 10, 25], p=[1, 1, 1], resolution=(8, 4))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = evcrisp.write(f"{folder}/a.npz", events)
    ...     result = filter_recording(f"{folder}/a.npz", f"{folder}/b.npz", tau_us=1000)
    >>> result.n_events, result.n_kept
    (3, 1)
    """
    target = Path(target)
    labels = None if labels is None else Path(labels)
    writer = writer_for(target, format)
    config = build_filter(method, preset, device, **params)
    if labels is not None and labels.resolve() == target.resolve():
        raise ConfigError("must not be the output file", parameter="labels", value=str(labels))
    with ExitStack() as stack:
        recording = stack.enter_context(opened(source))
        packer = None
        if labels is not None:
            refuse_inputs(labels, recording.path)
            packer = NpzPacker(stack.enter_context(replacing(labels, overwrite=overwrite)))
            stack.callback(packer.remove)
            # A recording without events has columns too.
            packer.append({"signal": np.empty(0, np.bool_), "score": np.empty(0)})
        refuse_inputs(target, recording.path)
        temporary = stack.enter_context(replacing(target, overwrite=overwrite))
        if labels is not None:
            stack.enter_context(withdrawing(labels, overwrite=overwrite))
        n_events = 0
        with ChunkWriter(temporary, writer, sensor_data_from=recording) as output:
            for events, found in denoise_chunks(recording.chunks(), config):
                output.write(found.kept(events))
                n_events += len(events)
                if packer is not None:
                    packer.append({"signal": found.signal, "score": found.score})
                if on_chunk is not None:
                    on_chunk(events)
            if not output.is_open:
                output.write(Events.empty(recording.resolution))
        if packer is not None:
            packer.pack({})
    return FilterResult(target, labels, n_events, output.n_events)
