"""``evcrisp live``: clean events while they come."""

import json
import threading
import time
import webbrowser
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

import click

from evcrisp.cli import options
from evcrisp.cli.signals import stop_on_signal

#: Time in which the page takes the end of the session, s.
_LAST_FRAME_S = 0.3


class SpeedType(click.ParamType):
    """A factor, or ``max``."""

    name = "speed"

    def convert(self, value: Any, param: Any, ctx: Any) -> float | str:
        """Parse ``max``, ``1`` or ``0.5``."""
        if isinstance(value, str) and value.strip().lower() == "max":
            return "max"
        return options.Number(min=0, min_open=True).convert(value, param, ctx)


@click.command("live")
@click.argument("source")
@options.option(
    "--output -o sinks",
    "Where the kept events go: a file, whose suffix selects the format; tcp://127.0.0.1:PORT or "
    "unix:///PATH, which start an AEDAT4 server (with ?sensors at the end, IMU samples, triggers and frames are sent too); udp://HOST:PORT, to which SPIF is sent; or - for standard output. Can be repeated.",
    multiple=True,
    metavar="SINK",
)
@options.option(
    "--method -m",
    "A method (`evcrisp methods`), a filter (`evcrisp filters`), or raw, which keeps all events.",
    default="auto",
)
@options.motion_option
@options.set_option("a parameter of the method")
@options.option(
    "--max-latency-ms max_latency_us",
    "Longest window of a method, ms. Default: 500. Filters have no windows.",
    options.Milliseconds(least_us=1_000),
    metavar="MS",
)
@options.option(
    "--speed",
    "Speed of a recording: 1 is real time, max is as fast as the method allows.",
    SpeedType(),
    default="1",
    metavar="FACTOR|max",
)
@options.option(
    "--resolution",
    "Width and height of the sensor, px. Default: as the source states.",
    options.ResolutionType(),
    metavar="WxH",
)
@options.option(
    "--max-waiting max_waiting_events",
    "Events that may wait for the method. When more arrive, the oldest are dropped. Default: a million, "
    "or those of two windows, at most eight million.",
    click.IntRange(1, 10**9),
)
@click.option(
    "--full-search",
    is_flag=True,
    help="Search the motion of every window, however late its labels come. Default: windows for "
    "which there is no time get labels by the motions that were found last.",
)
@click.option(
    "--reconnect",
    is_flag=True,
    help="Wait for a server that is absent, or that ends the connection.",
)
@options.option(
    "--bind",
    "Address of this machine for servers, such as 0.0.0.0, which admits other machines. "
    "Default: this machine only.",
    metavar="ADDRESS",
)
@options.option(
    "--stdout-format",
    "Format of standard output.",
    click.Choice(["aedat4", "csv"]),
    default="aedat4",
)
@options.option(
    "--motion-file",
    "Also write the motion of every window to a file, as motion.csv of `evcrisp run`.",
    options.OutputFile(".csv"),
    metavar="FILE.csv",
)
@click.option(
    "--view", "is_shown", is_flag=True, help="Show the events in the browser while they come."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    help="With --view: port on 127.0.0.1. Default: a free one.",
)
@click.option(
    "--no-browser", is_flag=True, help="With --view: print the address without opening a browser."
)
@options.force_option
@options.json_option
def live_command(
    source: str,
    sinks: tuple[str, ...],
    method: str,
    motion: str,
    settings: tuple[str, ...],
    max_latency_us: int | None,
    motion_file: Path | None,
    as_json: bool,
    is_shown: bool,
    port: int,
    no_browser: bool,
    **more: Any,
) -> None:
    """Clean the events of SOURCE while they come, and send those that are kept to each SINK.

    SOURCE is a recording, which is played in real time; an AEDAT4 server, tcp://HOST:PORT or
    unix:///PATH, such as dv-processing's NetworkWriter; udp://HOST:PORT, which receives SPIF and
    needs --resolution; or - for AEDAT4 on standard input. The command ends when the source ends, and prints a summary. Ctrl+C ends it too: files are complete.
    """
    from evcrisp.pipeline.windowing import Windowing
    from evcrisp.streaming.cleaning import is_filter
    from evcrisp.streaming.live import live
    from evcrisp.streaming.motion_table import MotionTable

    if is_filter(method) and (motion_file or max_latency_us):
        name = "--motion-file" if motion_file else "--max-latency-ms"
        raise click.UsageError(f"{name} is for methods with windows; {method} is a filter.")
    stop, shown = (
        threading.Event(),
        _Shown(source, port, opens=not no_browser) if is_shown else None,
    )
    overwrite: bool = more["overwrite"]
    with (
        stop_on_signal(stop) as stopped,
        MotionTable(motion_file, method, motion, overwrite=overwrite) as table,
        shown or nullcontext(),
    ):

        def on_part(part: Any) -> None:
            table.write(part)
            if shown is not None:
                shown.board.show(part)

        summary = live(
            source,
            sinks,
            method,
            motion,
            windowing=Windowing(max_latency_us=max_latency_us),
            on_part=on_part,
            on_state=None if shown is None else shown.note,
            stop=stop,
            **more,
            **options.parse_settings(settings),
        )
    text = json.dumps(summary.facts(), indent=2) if as_json else summary.page()
    click.echo(text, err="-" in sinks)
    if stop.is_set():
        raise stopped("All outputs are complete.")


class _Shown:
    """The page of a live session: a context manager that serves it."""

    def __init__(self, source: str, port: int, *, opens: bool) -> None:
        from evcrisp.viewer.live import LiveBoard

        self.board = LiveBoard()
        self._source, self._port, self._opens = source, port, opens
        self._stack = ExitStack()

    def __enter__(self) -> "_Shown":
        from evcrisp.viewer.live import serve_live

        name = Path(self._source).name if "://" not in self._source else self._source
        url = self._stack.enter_context(serve_live(self.board, name, port=self._port))
        click.echo(f"The page is at {url}", err=True)
        if self._opens:
            webbrowser.open(url)
        return self

    def __exit__(self, *error: Any) -> None:
        self.board.end()
        time.sleep(_LAST_FRAME_S)
        self._stack.close()

    def note(self, summary: Any) -> None:
        """Show the counts so far."""
        self.board.note(summary.facts())
