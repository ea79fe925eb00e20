"""One HTML file that shows some windows of a recording, with everything in it."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.io.atomic_output import replacing
from evcrisp.io.recording import Recording
from evcrisp.viewer.bundle_format import compacted, read_bundle
from evcrisp.viewer.compute import Computer
from evcrisp.viewer.event_store import Spool, SpoolWriter, spooled
from evcrisp.viewer.page import static_page
from evcrisp.viewer.requests import Request
from evcrisp.viewer.session import recording_facts
from evcrisp.viewer.temp_dir import scratch_folder

MAX_WINDOWS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """What a page that stands alone holds.

    Parameters
    ----------
    window_us : int
        Length of the windows.
    n_windows : int
        How many, spread evenly over the recording; fewer if they would overlap.
    methods : tuple of str
        Methods to choose from on the page.
    motion : str
        Motion model.
    filters : tuple of str
        Filters to compare with.
    front_points : int
        Points of the Pareto front of each window; 0 for no fronts, which take most of the time.
    camera : Camera, optional
        Calibration for the motion model "rotation".
    """

    window_us: int = 30_000
    n_windows: int = 8
    methods: tuple[str, ...] = ("auto",)
    motion: str = "translation"
    filters: tuple[str, ...] = ()
    front_points: int = 7
    camera: Camera | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.n_windows <= MAX_WINDOWS:
            raise ConfigError(f"`n_windows` must lie in 1..{MAX_WINDOWS}; got {self.n_windows}.")
        if not self.methods:
            raise ConfigError("`methods` must name at least one method.")
        for request in self.requests(0):
            _ = request  # building it has checked the names

    def requests(self, start_us: int) -> Iterator[Request]:
        """Yield what is computed of a window."""
        common: dict[str, Any] = {
            "start_us": start_us,
            "length_us": self.window_us,
            "motion": self.motion,
        }
        for method in self.methods:
            yield Request(kind="estimate", method=method, **common)
        for name in self.filters:
            yield Request(kind="filter", filter=name, **common)
        if self.front_points:
            yield Request(kind="front", points=self.front_points, **common)


def export(
    source: Recording | Events,
    path: str | PathLike[str],
    options: ExportOptions | None = None,
    *,
    name: str | None = None,
    overwrite: bool = False,
    on_window: Callable[[int, int], None] | None = None,
) -> int:
    """Write a page that shows a recording without any server, and return its size in bytes.

    Parameters
    ----------
    source : Recording or Events
        A recording is read once, in bounded memory.
    path : path
        The HTML file.
    options : ExportOptions, optional
        What it holds.
    name : str, optional
        Title; the file's name by default.
    overwrite : bool
        Replace an existing file.
    on_window : callable, optional
        Called with the number of windows that are done and of all, for progress.

    Examples
    --------
    >>> import evcrisp, pathlib, tempfile
    >>> scene = evcrisp.simulate(duration_us=20_000, resolution=(64, 48), noise_hz=5.0, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = pathlib.Path(folder) / "page.html"
    ...     size = export(scene.events, page, ExportOptions(window_us=20_000, front_points=0))
    ...     size == page.stat().st_size
    True
    """
    with replacing(Path(path), overwrite=overwrite) as temporary:
        page = export_html(source, options, name=name, on_window=on_window)
        temporary.write_text(page, encoding="utf-8")
    return Path(path).stat().st_size


def export_html(
    source: Recording | Events,
    options: ExportOptions | None = None,
    *,
    name: str | None = None,
    on_window: Callable[[int, int], None] | None = None,
) -> str:
    """Return the page of :func:`export` as text."""
    options = ExportOptions() if options is None else options
    is_recording = isinstance(source, Recording)
    if name is None:
        name = source.path.name if is_recording else "events"
    chunks = source.chunks(1 << 18) if is_recording else iter((source,))
    folder = Path(scratch_folder())
    try:
        writer = spooled(chunks, source.resolution, folder)
        windows = _Windows(Computer(writer.flushed(), options.camera), options)
        starts = _starts(writer.flushed(), options)
        for done, start in enumerate(starts):
            windows.add(start)
            if on_window is not None:
                on_window(done + 1, len(starts))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    settings = _settings(name, source, writer, options, windows)
    return static_page(settings, windows.blobs)


def _starts(spool: Spool, options: ExportOptions) -> list[int]:
    """Return where the windows start, us since the first event."""
    room = spool.duration_us - options.window_us
    if room <= 0:
        return [0]
    n = min(options.n_windows, 1 + room // options.window_us)
    return [0] if n == 1 else [room * k // (n - 1) for k in range(n)]


@dataclass(slots=True, eq=False)
class _Windows:
    """Bundles of windows by name, and the list that the page finds them with."""

    computer: Computer
    options: ExportOptions
    blobs: dict[str, bytes] = field(default_factory=dict)
    entries: list[dict[str, Any]] = field(default_factory=list)
    motions: list[dict[str, Any]] = field(default_factory=list)

    def add(self, start_us: int) -> None:
        """Compute everything of one window."""
        entry: dict[str, Any] = {"start_us": start_us, "length_us": self.options.window_us}
        packed = self.computer.spool.packed_window(start_us, self.options.window_us)
        entry["events"] = self._keep(packed)
        for request in self.options.requests(start_us):
            bundle = self._bundle(request)
            label = {"estimate": request.method, "filter": request.filter, "front": "front"}
            entry[f"{request.kind}:{label[request.kind]}"] = self._keep(bundle)
            facts, _ = read_bundle(bundle)
            if request.kind == "estimate":
                self.motions.append(facts)
            if request.kind == "front":
                self._add_points(entry, request, len(facts["thetas"]))
        self.entries.append(entry)

    def _add_points(self, entry: dict[str, Any], front: Request, n_points: int) -> None:
        for index in range(n_points):
            point = replace(front, kind="point", index=index)
            entry[f"point:{index}"] = self._keep(self._bundle(point))

    def _bundle(self, request: Request) -> bytes:
        return self.computer.compute(request, lambda share: None)

    def _keep(self, data: bytes) -> str:
        name = f"blob-{len(self.blobs)}"
        self.blobs[name] = compacted(data)
        return name


def _settings(
    name: str,
    source: Recording | Events,
    writer: SpoolWriter,
    options: ExportOptions,
    windows: _Windows,
) -> dict[str, Any]:
    format_name = source.format if isinstance(source, Recording) else ""
    content = {"rate": writer.rate.as_dict(), "format": format_name, "share": 1.0}
    return {
        "name": name,
        "facts": recording_facts(name, writer.flushed(), content),
        "windows": windows.entries,
        "motions": windows.motions,
        "choices": {
            "methods": list(options.methods),
            "motions": [options.motion],
            "filters": list(options.filters),
        },
        "start": {
            "window": options.window_us,
            "method": options.methods[0],
            "motion": options.motion,
            "filter": options.filters[0] if options.filters else "",
            "front": bool(options.front_points),
            "points": options.front_points,
        },
    }
