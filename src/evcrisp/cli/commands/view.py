"""``evcrisp view``: view a recording in the browser, or write it as one HTML file."""

import time
import webbrowser
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evcrisp.cli import options
from evcrisp.cli.progress import show_count

if TYPE_CHECKING:
    from evcrisp.io.recording import Recording


class FrontPoints(click.IntRange):
    """Number of points of a front: 0 for none, or at least 3."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Parse a number."""
        points: int = super().convert(value, param, ctx)
        if points in (1, 2):
            self.fail(f"expected 0 for no front, or 3 to {self.max:g}; got {points}.", param, ctx)
        return points


@click.command("view")
@options.recording_argument
@options.option(
    "--export page",
    "Write one self-contained HTML file instead of starting a server.",
    options.OutputFile(".html", ".htm"),
    metavar="FILE.html",
)
@options.auto_window_option(least_us=1, most_us=10_000_000)
@options.option(
    "--method -m", "Method that is shown first: NAMES.", default="auto", registry=options.METHODS
)
@options.motion_option
@click.option(
    "--filter",
    default="",
    help="Filter to compare with; `evcrisp filters` lists them. Default: none.",
)
@options.camera_option
@options.option(
    "--folder",
    "Start folder: the page lists its recordings, and can open them. Default: none.",
    click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIRECTORY",
)
@options.option(
    "--windows n_windows",
    "With --export: number of windows, spread over the recording.",
    click.IntRange(1, 500),
    default=8,
)
@options.option(
    "--front-points",
    "With --export: number of points of the Pareto front of each window; 0 for none.",
    FrontPoints(0, 41),
    default=7,
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    help="Port on 127.0.0.1. Default: a free one.",
)
@click.option("--no-browser", is_flag=True, help="Print the address without opening a browser.")
@options.force_option
@options.input_options
@click.pass_context
def view_command(
    context: click.Context,
    recording: Path,
    page: Path | None,
    method: str,
    filter: str,
    camera: options.CameraFile | None,
    folder: Path | None,
    n_windows: int,
    front_points: int,
    port: int,
    no_browser: bool,
    overwrite: bool,
    opening: dict[str, Any],
    **common: Any,
) -> None:
    """View RECORDING in the browser: raw, aligned and denoised, side by side.

    The page is served on this machine only, and only to clients with the secret in the printed
    address. Ctrl+C stops the server. With --export, a single HTML file is written that shows some
    windows without a server or a network.
    """
    from evcrisp.io.atomic_output import refuse_inputs
    from evcrisp.io.reading import open_recording

    if page is None:
        options.refuse_unused(
            context, ("n_windows", "front_points", "overwrite"), "is only for --export."
        )
    else:
        options.refuse_unused(context, ("port", "no_browser", "folder"), "is not for --export.")
        refuse_inputs(page, recording, options.camera_path(camera))
    with open_recording(recording, **opening) as opened:  # errors of opening come before the server
        common["camera"] = options.load_camera(camera, opened, common["motion"])
        if opened.cut.start_us:
            next(opened.chunks(), None)  # raises if the start is after the end
        if page is not None:
            names = {"methods": (method,), "filters": (filter,) if filter else ()}
            sizes = {"n_windows": n_windows, "front_points": front_points}
            _export(opened, page, overwrite, {**common, **names, **sizes})
            return
    _view(
        port,
        not no_browser,
        {
            **common, **opening, "path": recording, "folder": folder, "method": method, "filter": filter,
        },
    )  # fmt: skip


def _view(port: int, opens_browser: bool, settings: dict[str, Any]) -> None:
    from evcrisp.viewer.server import view
    from evcrisp.viewer.session import ViewOptions

    options = ViewOptions(**settings)

    def announce(url: str) -> None:
        click.echo(f"{options.path.name} is at {url}\nCtrl+C stops the server.")
        if opens_browser:
            webbrowser.open(url)

    view(options, port=port, on_ready=announce)


def _export(recording: "Recording", page: Path, overwrite: bool, settings: dict[str, Any]) -> None:
    from evcrisp.core.errors import EventDataError
    from evcrisp.viewer.export import ExportOptions, export

    if not any(len(chunk) for chunk in recording.chunks()):
        raise EventDataError(f"{recording.path} has no events, and so there is nothing to show.")

    start = time.perf_counter()
    n_bytes = export(
        recording,
        page,
        ExportOptions(**settings),
        overwrite=overwrite,
        on_window=partial(show_count, "Window"),
    )
    elapsed_s = time.perf_counter() - start
    click.echo(
        f"Wrote {page}: {n_bytes / 1e6:.1f} MB, in {elapsed_s:.0f} s. Open it in any browser."
    )
