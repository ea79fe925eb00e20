"""``evcrisp render``: render a video of a recording."""

from pathlib import Path
from typing import Any

import click

from evcrisp.cli.options import (
    force_option,
    input_options,
    load_camera,
    method_options,
    parse_settings,
    recording_argument,
    window_option,
)
from evcrisp.cli.progress import reading_progress
from evcrisp.cli.types import Number


@click.command("render")
@recording_argument
@click.argument("output", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--fps",
    type=Number(0.01, 240),
    default=30.0,
    show_default=True,
    help="Frames per second of the video; at most 50 for a GIF.",
)
@click.option(
    "--speed",
    type=Number(0, min_open=True),
    default=1.0,
    show_default=True,
    help="Speed of the video: 1 is real time, 0.1 ten times slower.",
)
@window_option(
    "Time that a frame shows, which is the window of the motion estimate, ms. Default: 33.3.",
    default=None,
    most_us=10_000_000,
)
@click.option(
    "--panes",
    default="raw,aligned,denoised",
    show_default=True,
    help="Panes from left to right: raw, aligned, denoised, labels (signal and noise).",
)
@click.option(
    "--colors",
    default="red-blue",
    show_default=True,
    help="Colors of events: red-blue, white-black (on gray), safe (for color blindness), dark.",
)
@click.option(
    "--exposure",
    type=Number(0, 100, min_open=True),
    default=1.0,
    show_default=True,
    help="Strength of the color of one event; smaller values give more shades.",
)
@click.option(
    "--scale",
    type=click.IntRange(1, 16),
    default=1,
    show_default=True,
    help="Side of a sensor pixel in the video, px.",
)
@click.option(
    "--no-titles", is_flag=True, help="Omit the line with the names of the panes and the time."
)
@method_options
@force_option
@input_options
def render_command(
    recording: Path,
    output: Path,
    fps: float,
    speed: float,
    window_us: int | None,
    panes: str,
    colors: str,
    exposure: float,
    scale: int,
    no_titles: bool,
    method: str,
    motion: str,
    camera: Path | None,
    settings: tuple[str, ...],
    overwrite: bool,
    **opening: Any,
) -> None:
    """Render a video of RECORDING to OUTPUT, an .mp4, .gif or .webp file.

    OUTPUT appears when it is complete. Needs the extra 'video'.
    """
    from evcrisp.core.messages import counted
    from evcrisp.io.atomic_output import refuse_inputs
    from evcrisp.io.reading import open_recording
    from evcrisp.video import VideoConfig, render

    refuse_inputs(output, recording, camera)
    window = {} if window_us is None else {"window_us": window_us}
    config = VideoConfig(
        fps=fps,
        speed=speed,
        panes=tuple(name.strip() for name in panes.split(",") if name.strip()),
        colors=colors,
        exposure=exposure,
        scale=scale,
        titles=not no_titles,
        **window,
    )
    with (
        open_recording(recording, **opening) as opened,
        reading_progress("Rendering", opened) as advance,
    ):
        video = render(
            opened,
            output,
            method=method,
            motion=motion,
            camera=load_camera(camera, opened),
            config=config,
            overwrite=overwrite,
            on_chunk=advance,
            **parse_settings(settings),
        )
    click.echo(
        f"Wrote {counted(video.n_frames, 'frame')} of {video.size[0]} x {video.size[1]} px, "
        f"{video.duration_s:.1f} s, to {output}."
    )
