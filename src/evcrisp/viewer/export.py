"""Export windows of a recording, with their results, as one HTML file."""

import contextlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.core.validation import check_number
from evcrisp.io.atomic_output import replacing
from evcrisp.io.reading import open_recording
from evcrisp.io.recording import Recording
from evcrisp.pipeline.camera_motion.recorded_camera import needs_camera
from evcrisp.viewer.bundle_format import read_bundle
from evcrisp.viewer.compute import Computer
from evcrisp.viewer.event_store import EventStore, make_temp_dir, write_store
from evcrisp.viewer.page import static_page
from evcrisp.viewer.page_size import compressed, fitted
from evcrisp.viewer.requests import MAX_POINTS, MIN_POINTS, Request, check_duration
from evcrisp.viewer.sensor_store import SensorStore
from evcrisp.viewer.session import recording_facts

#: Windows of a page; more would make it too large for browsers.
MAX_WINDOWS = 500

#: Called with the number of finished windows, and of all windows.
OnWindow = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """Content of an exported page.

    Parameters
    ----------
    window_us : int, optional
        Duration of a window. By default the windows are those of ``Windowing()``.
    n_windows : int
        Number of windows, evenly spaced over the recording; fewer if they overlap.
    methods, filters : tuple of str
        Names of the methods and filters in the menus of the page. Parts that were registered in
        this process can be used; objects and classes are refused.
    motion : str
        Name of the motion model.
    front_points : int
        Points of the Pareto front of each window, which takes most of the time; 0 for none.
    max_window_kb : int
        Largest size of a window in the page, 50 or more. Of larger windows, every second, third, ...
        event is drawn, and maps are coarser; all numbers are those of all events.
    camera : Camera, optional
        Calibration for the motion model "rotation".
    """

    window_us: int | None = None
    n_windows: int = 8
    methods: tuple[str, ...] = ("auto",)
    motion: str = "auto"
    filters: tuple[str, ...] = ()
    front_points: int = 7
    max_window_kb: int = 700
    camera: Camera | None = None

    def __post_init__(self) -> None:
        check_number("n_windows", self.n_windows, 1, MAX_WINDOWS)
        if self.window_us is not None:
            check_duration("window_us", self.window_us)
        if self.front_points:
            remedy = "Give 0 for no fronts."
            check_number("front_points", self.front_points, MIN_POINTS, MAX_POINTS, remedy=remedy)
        check_number("max_window_kb", self.max_window_kb, 50, 10**6, whole=True)
        if not self.methods:
            raise ConfigError("`methods` must name at least one method.")
        list(self.requests(0, 1_000))  # checks the names

    def requests(self, start_us: int, duration_us: int) -> Iterator[Request]:
        """Yield the requests for a window."""
        common: dict[str, Any] = {
            "start_us": start_us,
            "duration_us": duration_us,
            "motion": self.motion,
            "windows": "auto" if self.window_us is None else "fixed",
        }
        for method in self.methods:
            yield Request(kind="estimate", method=method, **common)
        for name in self.filters:
            yield Request(kind="filter", filter=name, **common)
        if self.front_points:
            yield Request(kind="front", n_points=self.front_points, **common)


def export(
    source: str | PathLike[str] | Recording | Events,
    path: str | PathLike[str],
    options: ExportOptions | None = None,
    *,
    name: str | None = None,
    overwrite: bool = False,
    on_window: OnWindow | None = None,
    **changes: Any,
) -> int:
    """Write a page that shows a recording without a server; return its size in bytes.

    Parameters
    ----------
    source : path, Recording or Events
        A recording is read once, in bounded memory.
    path : path
        The HTML file.
    options : ExportOptions, optional
        Content of the page.
    name : str, optional
        Title. Default: the file name of the recording.
    overwrite : bool
        Replace an existing file.
    on_window : callable, optional
        Called with the number of finished windows, and of all windows.
    **changes
        Fields of :class:`ExportOptions`, such as ``n_windows=4``; they override ``options``.

    Examples
    --------
    >>> import evcrisp, pathlib, tempfile
    >>> scene = evcrisp.simulate(duration_us=20_000, resolution=(64, 48), noise_hz=5.0, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = pathlib.Path(folder) / "page.html"
    ...     size = export(scene.events, page, window_us=20_000, front_points=0)
    ...     size == page.stat().st_size
    True
    """
    with replacing(Path(path), overwrite=overwrite) as temporary:
        page = export_html(source, options, name=name, on_window=on_window, **changes)
        temporary.write_text(page, encoding="utf-8")
    return Path(path).stat().st_size


def export_html(
    source: str | PathLike[str] | Recording | Events,
    options: ExportOptions | None = None,
    *,
    name: str | None = None,
    on_window: OnWindow | None = None,
    **changes: Any,
) -> str:
    """Return the page of :func:`export` as text."""
    options = replace(ExportOptions() if options is None else options, **changes)
    with contextlib.ExitStack() as stack:
        if not isinstance(source, (Recording, Events)):
            source = stack.enter_context(open_recording(source))
        is_recording = isinstance(source, Recording)
        if name is None:
            name = source.path.name if is_recording else "events"
        chunks = source.chunks(1 << 18) if is_recording else iter((source,))
        folder = Path(make_temp_dir())
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        recorded = source.camera() if is_recording and needs_camera(options.motion) else None
        writer = write_store(chunks, source.resolution, folder, recorded)
        sensors = SensorStore(folder, writer.store().t_first)
        if is_recording:
            sensors.write(source)
        results = _WindowResults(Computer(writer.store(), options.camera), options, sensors)
        windows = _windows(writer.store(), options)
        for done, (start, duration) in enumerate(windows):
            results.add(start, duration)
            if on_window is not None:
                on_window(done + 1, len(windows))
        format_name = source.format if is_recording else ""
        content = {"rate": writer.rate.as_dict(), "format": format_name, "share": 1.0}
        facts = {**recording_facts(name, writer.store(), content), "windows": []}
        settings = {"name": name, "facts": facts, **results.page_settings()}
    return static_page(settings, results.blobs)


def _windows(store: EventStore, options: ExportOptions) -> list[tuple[int, int]]:
    """Return start and duration of the windows, us; starts count from the first event."""
    duration = options.window_us
    if duration is None:
        chosen = store.windows()
        n = min(options.n_windows, len(chosen))
        indices = [0] if n == 1 else [(len(chosen) - 1) * k // (n - 1) for k in range(n)]
        return [(int(chosen[k, 0]), int(chosen[k, 1])) for k in indices]
    last = store.duration_us - duration
    n = 1 if last <= 0 else min(options.n_windows, 1 + last // duration)
    return [(0 if n == 1 else last * k // (n - 1), duration) for k in range(n)]


@dataclass(slots=True, eq=False)
class _WindowResults:
    """Bundles of the windows by name, and the entries by which the page finds them."""

    computer: Computer
    options: ExportOptions
    sensors: SensorStore
    blobs: dict[str, str] = field(default_factory=dict)
    entries: list[dict[str, Any]] = field(default_factory=list)
    motions: list[dict[str, Any]] = field(default_factory=list)

    def add(self, start_us: int, duration_us: int) -> None:
        """Compute all results of one window."""
        bundles = {"events": self.computer.store.bundle(start_us, duration_us)}
        for request in self.options.requests(start_us, duration_us):
            label = {"estimate": request.method, "filter": request.filter, "front": "front"}
            facts = self._compute(request, bundles, label[request.kind])
            if request.kind == "estimate":
                self.motions.append(facts)
            if request.kind == "front":
                for index in range(len(facts["thetas"])):
                    self._compute(replace(request, kind="point", index=index), bundles, index)
        frame = self.sensors.nearest_frame(start_us + duration_us // 2)
        if frame >= 0:
            bundles["frame"] = self.sensors.frame(frame)
        texts, step = fitted(bundles, 1000 * self.options.max_window_kb)
        entry: dict[str, Any] = {"start_us": start_us, "duration_us": duration_us, "step": step}
        self.entries.append({**entry, **{key: self._keep(text) for key, text in texts.items()}})

    def _compute(
        self, request: Request, bundles: dict[str, bytes], label: object
    ) -> dict[str, Any]:
        bundle = self.computer.compute(request, lambda share: None)
        bundles[f"{request.kind}:{label}"] = bundle
        return read_bundle(bundle)[0]

    def _keep(self, text: str) -> str:
        name = f"blob-{len(self.blobs)}"
        self.blobs[name] = text
        return name

    def page_settings(self) -> dict[str, Any]:
        """Return the windows, menus and initial selections of the page as JSON types."""
        options = self.options
        return {
            "windows": self.entries,
            "sensors": self._keep(compressed(self.sensors.bundle())),
            "motions": self.motions,
            "choices": {
                "methods": list(options.methods),
                "motions": [options.motion],
                "filters": list(options.filters),
            },
            "start": {
                "window": self.entries[0]["duration_us"],
                "auto": False,
                "method": options.methods[0],
                "motion": options.motion,
                "filter": options.filters[0] if options.filters else "",
                "front": bool(options.front_points),
                "points": options.front_points,
            },
        }
