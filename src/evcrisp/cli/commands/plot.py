"""``evcrisp plot``: draw a figure of one window of a recording, or of its motion."""

from pathlib import Path
from typing import Any

import click

from evcrisp.cli import options
from evcrisp.cli.progress import work_progress

#: Figures of the result of a method, and figures of a Pareto front.
_METHOD_FIGURES = (
    "scatter",
    "outcomes",
    "aligned",
    "layers",
    "flow",
    "xyt",
    "maps",
    "w",
    "intro",
    "roc",
)
_FRONT_FIGURES = ("pareto", "tradeoff")

#: Option -> the figures that it applies to, if not to all.
_APPLIES_TO = {
    "colors": ("scatter", "aligned", "layers", "xyt", "intro"),
    "style": ("flow",),
    "n_points": _FRONT_FIGURES,
    "methods": (*_METHOD_FIGURES, "motion"),
    "window_start_us": (*_METHOD_FIGURES, *_FRONT_FIGURES),
}


@click.command("plot")
@click.argument("kind")
@options.recording_argument
@options.output_option("Picture to write: .png, .pdf or .svg.", required=True)
@options.option(
    "--method -m methods",
    "Method (NAMES), or filter (see `evcrisp filters`). Can be repeated for scatter, outcomes and "
    "roc. Default: auto.",
    registry=options.METHODS,
    multiple=True,
)
@options.motion_option
@options.camera_option
@options.set_option("a parameter of the method, if only one is given")
@options.start_option
@options.window_option()
@options.points_option("Number of points of the front in pareto and tradeoff.")
@options.option(
    "--colors",
    "Colors of events in scatter, aligned, xyt and intro, and ground of layers: red-blue, "
    "white-black (on gray), safe (for color blindness), dark.",
    default="red-blue",
)
@options.option(
    "--style",
    "Drawing of a flow: colors (of a color wheel) or arrows.",
    click.Choice(["colors", "arrows"]),
    default="colors",
)
@options.option("--dpi", "Resolution, dots per inch.", options.Number(10, 2400), default=150.0)
@options.force_option
@options.input_options
@click.pass_context
def plot_command(
    context: click.Context,
    kind: str,
    recording: Path,
    output: Path,
    methods: tuple[str, ...],
    motion: str,
    camera: options.CameraFile | None,
    window_start_us: int,
    settings: tuple[str, ...],
    colors: str,
    style: str,
    dpi: float,
    overwrite: bool,
    opening: dict[str, Any],
    **window: Any,
) -> None:
    """Draw a figure of KIND from RECORDING.

    \b
    scatter   events that each method keeps       roc       ROC curves (needs true labels)
    outcomes  TP, FN, TN, FP (needs true labels)  pareto    front of alignment against denoising
    aligned   events as recorded and aligned      tradeoff  quantities along that front
    xyt       events over space and time          motion    motion of the whole recording; for a
    maps      contrast before and after                     rotation, against the gyroscope if
    w         confidence map                                there is one
    intro     drift and alignment                 layers    events by layer, boxes, velocities
                                                  flow      velocity of every pixel

    All figures except motion show one window. Needs the extra 'plot'.
    """  # noqa: D301 - click needs the character, not a backslash
    from evcrisp.core.registry import lookup, require
    from evcrisp.io.atomic_output import refuse_inputs, replacing
    from evcrisp.io.reading import open_recording
    from evcrisp.pipeline.figure_data import COMPARISONS, FigureSource
    from evcrisp.plots import FIGURES, figure, picture_kind, save_figure

    require("matplotlib", extra="plot", purpose="Figures")
    picture_kind(output)
    lookup({name: entry for name, entry in FIGURES.items() if entry.of_recording}, kind, "figure")
    for name, kinds in _APPLIES_TO.items():
        if kind not in kinds:
            reason = f"does not apply to the figure {kind!r}, only to {', '.join(kinds)}."
            options.refuse_unused(context, [name], reason)
    names = methods or ("auto",)
    if len(names) > 1 and (kind not in COMPARISONS or settings):
        raise click.UsageError(
            "--method can be repeated only for scatter, outcomes and roc without --set."
        )
    refuse_inputs(output, recording, options.camera_path(camera))
    # Before the work: an invalid output name is reported first.
    with replacing(output, overwrite=overwrite) as temporary:
        with open_recording(recording, **opening) as opened, work_progress(f"Drawing {kind}"):
            lens = options.load_camera(camera, opened, motion)
            params = options.parse_settings(settings)
            window |= {"motion": motion, "start_us": window_start_us}
            source = FigureSource(methods=names, camera=lens, params=params, **window)
            data = source.data(kind, opened)
        for option, value in (("colors", colors), ("style", style)):
            if kind in _APPLIES_TO[option]:
                data[option] = value
        save_figure(figure(kind, **data), temporary, dpi=dpi)
    click.echo(f"Saved {output}.")
