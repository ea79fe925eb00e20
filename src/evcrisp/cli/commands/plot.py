"""``evcrisp plot``: a figure of one window of a recording, or of its motion."""

from pathlib import Path
from typing import Any

import click

from evcrisp.cli.camera import camera_for
from evcrisp.cli.option_checks import refuse_unused
from evcrisp.cli.options import (
    METHODS,
    camera_option,
    force_option,
    input_options,
    motion_option,
    output_option,
    parse_settings,
    points_option,
    recording_argument,
    set_option,
    start_option,
    window_option,
)
from evcrisp.cli.progress import work_progress
from evcrisp.cli.types import Number
from evcrisp.pipeline.figure_data import COMPARING, FigureSource

#: Figures of one window that a method made, and those of a whole Pareto front.
_OF_A_METHOD = ("scatter", "outcomes", "aligned", "xyt", "maps", "w", "intro", "roc")
_OF_A_FRONT = ("pareto", "tradeoff")

#: Option -> the kinds of figures that take it, where these are not all.
_TAKEN_BY = {
    "colors": ("scatter", "aligned", "xyt", "intro"),
    "n_points": _OF_A_FRONT,
    "methods": (*_OF_A_METHOD, "motion"),
    "start_us": (*_OF_A_METHOD, *_OF_A_FRONT),
}


@click.command("plot")
@click.argument("kind")
@recording_argument
@output_option("Picture to write; ends in .png, .pdf or .svg.", required=True)
@click.option(
    "--method",
    "-m",
    "methods",
    multiple=True,
    help=f"Method ({', '.join(METHODS)}), or filter, as `evcrisp filters` lists them. May be repeated "
    "for scatter, outcomes and roc. Default: auto.",
)
@motion_option
@camera_option
@set_option("a parameter of the method, if there is one method")
@start_option
@window_option()
@points_option("Points of pareto and tradeoff.")
@click.option(
    "--colors",
    default="red-blue",
    show_default=True,
    help="Colors of events in scatter, aligned, xyt and intro: red-blue, white-black (on gray), safe "
    "(for every color vision), dark.",
)
@click.option(
    "--dpi", type=Number(10, 2400), default=150.0, show_default=True, help="Dots per inch."
)
@force_option
@input_options
@click.pass_context
def plot_command(
    context: click.Context,
    kind: str,
    recording: Path,
    output: Path,
    methods: tuple[str, ...],
    motion: str,
    camera: Path | None,
    settings: tuple[str, ...],
    start_us: int,
    window_us: int,
    n_points: int,
    colors: str,
    dpi: float,
    force: bool,
    **opening: Any,
) -> None:
    """Draw a figure of KIND from RECORDING.

    \b
    scatter   what each method keeps              roc       ROC curves (needs labels in the file)
    outcomes  TP, FN, TN, FP (needs labels)       pareto    front of alignment against denoising
    aligned   events as recorded and aligned      tradeoff  what changes along that front
    xyt       events over space and time          motion    motion of the whole recording, against
    maps      contrast before and after                     the gyroscope if there is one and the
    w         confidence map                                motion is a rotation
    intro     drift and alignment

    All but motion show one window. Needs the extra 'plot'.
    """  # noqa: D301 - click wants the character itself, not a backslash
    from evcrisp.core.registry import lookup, require
    from evcrisp.io.atomic_output import refuse_inputs, replacing
    from evcrisp.io.reading import open_recording
    from evcrisp.plots import FIGURES, figure, picture_kind, save_figure

    require("matplotlib", extra="plot", purpose="Figures")
    picture_kind(output)
    lookup({name: entry for name, entry in FIGURES.items() if entry.of_recording}, kind, "figure")
    _refuse_what_is_not_taken(context, kind)
    names = methods or ("auto",)
    if len(names) > 1 and (kind not in COMPARING or settings):
        raise click.UsageError(
            "--method may be given once only, but for scatter, outcomes and roc without --set."
        )
    refuse_inputs(output, recording, camera)
    # The name of the output is checked before the work, not after it.
    with replacing(output, overwrite=force) as temporary:
        with open_recording(recording, **opening) as opened, work_progress(f"Drawing {kind}"):
            source = FigureSource(
                names=names,
                motion=motion,
                camera=camera_for(camera, opened),
                params=parse_settings(settings),
                start_us=start_us,
                window_us=window_us,
                n_points=n_points,
            )
            data = source.data(kind, opened)
        if kind in _TAKEN_BY["colors"]:
            data["colors"] = colors
        save_figure(figure(kind, **data), temporary, dpi=dpi)
    click.echo(f"Saved {output}.")


def _refuse_what_is_not_taken(context: click.Context, kind: str) -> None:
    """Complain of an option that a figure of this kind would pass over in silence."""
    for name, kinds in _TAKEN_BY.items():
        if kind not in kinds:
            reason = f"is not for the figure {kind!r}, only for {', '.join(kinds)}."
            refuse_unused(context, [name], reason)
