"""``evcrisp plot``: a figure of one window of a recording, or of its motion."""

from pathlib import Path
from typing import Any

import click

from evcrisp.cli._figure_data import COMPARING, FigureSource
from evcrisp.cli._options import (
    camera_option,
    force_option,
    input_options,
    parse_settings,
    recording_argument,
)
from evcrisp.cli._times import microseconds

#: Figures whose colors of events can be chosen.
_COLORED = ("scatter", "aligned", "xyt", "intro")


@click.command("plot")
@click.argument("kind")
@recording_argument
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Picture to write; ends in .png, .pdf or .svg.",
)
@click.option(
    "--method",
    "-m",
    "methods",
    multiple=True,
    help="Method or filter. May be repeated for scatter, outcomes and roc. Default: auto.",
)
@click.option("--motion", default="translation", show_default=True, help="Motion model.")
@camera_option
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a parameter of the method, if there is one method. May be repeated.",
)
@click.option(
    "--start-ms",
    type=float,
    default=0.0,
    show_default=True,
    help="Start after the first event, ms.",
)
@click.option(
    "--window-ms", type=float, default=30.0, show_default=True, help="Length of a window, ms."
)
@click.option(
    "--points", type=int, default=21, show_default=True, help="Points of pareto and tradeoff."
)
@click.option(
    "--colors",
    default="red-blue",
    show_default=True,
    help="Colors of events: red-blue, white-black (on gray), safe (for every color vision), dark.",
)
@click.option("--dpi", type=float, default=150.0, show_default=True, help="Dots per inch.")
@force_option
@input_options
def plot_command(
    kind: str,
    recording: Path,
    output: Path,
    methods: tuple[str, ...],
    motion: str,
    camera: Path | None,
    settings: tuple[str, ...],
    start_ms: float,
    window_ms: float,
    points: int,
    colors: str,
    dpi: float,
    force: bool,
    **opening: Any,
) -> None:
    r"""Draw a figure of KIND from RECORDING.

    \b
    scatter   what each method keeps              roc       ROC curves (needs labels in the file)
    outcomes  TP, FN, TN, FP (needs labels)       pareto    front of alignment against denoising
    aligned   events as recorded and aligned      tradeoff  what changes along that front
    xyt       events over space and time          motion    motion of the whole recording, against
    maps      contrast before and after                     the gyroscope if there is one and the
    w         confidence map                                motion is a rotation
    intro     drift and alignment

    All but motion show one window. Needs the extra 'plot'.
    """
    from evcrisp.camera import Camera
    from evcrisp.io._writing import replacing
    from evcrisp.io.reading import open_recording
    from evcrisp.plots import FIGURES, figure, picture_kind, save_figure
    from evcrisp.registry import lookup, require

    require("matplotlib", extra="plot", purpose="Figures")
    picture_kind(output)
    lookup({name: entry for name, entry in FIGURES.items() if entry.of_recording}, kind, "figure")
    names = methods or ("auto",)
    if len(names) > 1 and (kind not in COMPARING or settings):
        raise click.UsageError(
            "--method may be given once only, but for scatter, outcomes and roc without --set."
        )
    source = FigureSource(
        names=names,
        motion=motion,
        camera=None if camera is None else Camera.from_file(camera),
        params=parse_settings(settings),
        start_us=microseconds(start_ms, "--start-ms"),
        window_us=microseconds(window_ms, "--window-ms"),
        n_points=points,
    )
    with open_recording(recording, **opening) as opened:
        data = source.data(kind, opened)
    if kind in _COLORED:
        data["colors"] = colors
    with replacing(output, overwrite=force) as temporary:
        save_figure(figure(kind, **data), temporary, dpi=dpi)
    click.echo(f"Saved {output}.")
