"""``evcrisp render``: render a video of a recording."""

from pathlib import Path
from typing import Any

import click

from evcrisp.cli import options
from evcrisp.cli.progress import open_with_progress


@click.command("render")
@options.recording_argument
@click.argument("output", type=click.Path(dir_okay=False, path_type=Path))
@options.option(
    "--fps",
    "Frames per second of the video; at most 50 for a GIF.",
    options.Number(0.01, 240),
    default=30.0,
)
@options.option(
    "--speed",
    "Speed of the video: 1 is real time, 0.1 ten times slower.",
    options.Number(0, min_open=True),
    default=1.0,
)
@options.auto_window_option(
    "Time that a frame shows, which is the window of the motion estimate, ms; or auto: windows end "
    "when the image has moved, as for `evcrisp run`, and frames show 33.3 ms. Default: auto.",
    most_us=10_000_000,
)
@options.option(
    "--panes",
    "Panes from left to right: raw, aligned, denoised, labels (signal and noise), layers (colors by "
    "layer, with boxes).",
    default="raw,aligned,denoised",
)
@options.option(
    "--colors",
    "Colors of events: red-blue, white-black (on gray), safe (for color blindness), dark.",
    default="red-blue",
)
@options.option(
    "--exposure",
    "Strength of the color of one event; smaller values give more shades.",
    options.Number(0, 100, min_open=True),
    default=1.0,
)
@options.option(
    "--scale", "Side of a sensor pixel in the video, px.", click.IntRange(1, 16), default=1
)
@click.option(
    "--no-titles", is_flag=True, help="Omit the line with the names of the panes and the time."
)
@options.method_options
@options.force_option
@options.input_options
def render_command(
    recording: Path,
    output: Path,
    panes: str,
    no_titles: bool,
    estimation: dict[str, Any],
    overwrite: bool,
    opening: dict[str, Any],
    **look: Any,
) -> None:
    """Render a video of RECORDING to OUTPUT, an .mp4, .gif or .webp file.

    OUTPUT appears when it is complete. Needs the extra 'video'.
    """
    from evcrisp.core.messages import counted
    from evcrisp.io.atomic_output import refuse_inputs
    from evcrisp.video import VideoConfig, render

    refuse_inputs(output, recording, options.camera_path(estimation["camera"]))
    names = tuple(name.strip() for name in panes.split(",") if name.strip())
    config = VideoConfig(panes=names, titles=not no_titles, **look)
    with open_with_progress("Rendering", recording, **opening) as (opened, advance):
        video = render(
            opened,
            output,
            **options.method_arguments(estimation, opened),
            config=config,
            overwrite=overwrite,
            on_chunk=advance,
        )
    click.echo(
        f"Wrote {counted(video.n_frames, 'frame')} of {video.size[0]} x {video.size[1]} px, "
        f"{video.duration_s:.1f} s, to {output}."
    )
