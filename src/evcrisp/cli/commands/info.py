"""``evcrisp info``: show the contents of a recording."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evcrisp.cli import options
from evcrisp.cli.progress import open_with_progress
from evcrisp.core.errors import EvError
from evcrisp.core.messages import shown

if TYPE_CHECKING:
    from evcrisp.io.recording import Recording


@click.command("info")
@options.recording_argument
@options.json_option
@options.input_options
def info_command(recording: Path, as_json: bool, opening: dict[str, Any]) -> None:
    """Show the contents of RECORDING: format, camera, sensor size, events, time, other sensor data.

    The whole file is read once, in bounded memory: the numbers are counted, not read from a header.
    """
    from evcrisp.io.reading import summarize

    with open_with_progress("Reading", recording, **opening) as (opened, advance):
        facts = {**summarize(opened, advance), "calibration": _calibration(opened)}
    click.echo(json.dumps(facts, indent=2) if as_json else _page(facts))


def _page(facts: dict[str, Any]) -> str:
    guessed = " (not stated by the file)" if facts["resolution_source"] == "guessed" else ""
    rows = [
        ("file", facts["path"]),
        ("format", facts["format"]),
        *_header(facts),
        *_streams(facts),
        *_part(facts["cut"]),
        ("sensor", f"{facts['width']} x {facts['height']} px{guessed}"),
        *_live_area(facts["live_area"]),
        ("events", f"{facts['n_events']:,}"),
    ]
    if facts["n_events"]:
        share = facts["n_on"] / facts["n_events"]
        rows += [
            ("ON / OFF", f"{facts['n_on']:,} / {facts['n_off']:,} ({share:.1%} ON)"),
            *_labels(facts),
            ("time", f"{facts['t_first_us']} to {facts['t_last_us']} us"),
            ("clock", facts["clock"]),
            ("duration", f"{facts['duration_s']:.6f} s"),
            ("rate", _rate(facts["rate_hz"]) if facts["duration_s"] else "-"),
            *_pause(facts),
        ]
    names = {"imu_samples": "IMU samples", "triggers": "triggers", "frames": "frames"}
    for key, name in names.items():
        if facts[key]:
            rows.append((name, f"{facts[key]:,}"))
    if facts["damage"]:
        rows.append(("damage", facts["damage"]))
    return "\n".join(f"{name:<16}{shown(str(value))}" for name, value in rows)


def _streams(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return a row per stream of events, if there are several."""
    streams = [stream for stream in facts["streams"] if stream["kind"] == "events"]
    rows = [("stream", _stream(stream, facts["stream"])) for stream in streams]
    return rows if len(rows) > 1 else []


def _stream(stream: dict[str, Any], read: str) -> str:
    parts = [stream["name"], *stream["aliases"][:1]]
    if stream["resolution"] is not None:
        parts.append("{} x {} px".format(*stream["resolution"]))
    if stream["n_elements"] is not None:
        parts.append(f"{stream['n_elements']:,} events")
    return ", ".join(parts) + (" (read)" if stream["name"] == read else "")


def _part(cut: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Return a row with the part that was read, if it is not the whole recording."""
    if cut is None:
        return []
    start, duration = cut["start_us"] / 1e6, cut["duration_us"]
    end = "the end" if duration is None else f"{start + duration / 1e6:g} s"
    region = "" if cut["roi"] is None else "; {2} x {3} px from x={0}, y={1}".format(*cut["roi"])
    return [("part", f"from {start:g} s to {end} after the first event{region}")]


def _calibration(recording: "Recording") -> str | None:
    """Return the calibration of the recording, or what is wrong with it, as text."""
    try:
        camera = recording.camera()
    except EvError as error:
        return f"not readable: {error}"
    return None if camera is None else repr(camera)


#: Fact -> its name on the page, if the file states it.
_HEADER = {
    "camera": "camera",
    "serial_number": "serial number",
    "compression": "compression",
    "encoding": "encoding",
    "date": "recorded",
    "calibration": "calibration",
}


def _header(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return rows with what the header states; streams and topics have a row each."""
    rows = [(name, str(facts[key])) for key, name in _HEADER.items() if facts[key]]
    titles = ["contents", *[""] * len(facts["contents"])]
    return [*rows, *zip(titles, facts["contents"], strict=False)]


def _live_area(area: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Return a row with the live area, if large parts of the sensor have no events."""
    return [] if area is None or area["advice"] is None else [("live area", area["advice"])]


def _labels(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return a row with the labels, if the recording has them."""
    n_signal, n = facts["n_signal"], facts["n_events"]
    if n_signal is None:
        return []
    return [("signal / noise", f"{n_signal:,} / {n - n_signal:,} ({n_signal / n:.1%} signal)")]


#: Shortest pause that is shown, s, and as a share of the recording.
_PAUSE_S, _PAUSE_SHARE = 1.0, 0.1


def _pause(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return a row with the longest pause, if it changes what the rate means."""
    pause_s, rest_s = facts["longest_pause_us"] / 1e6, facts["duration_s"]
    if pause_s < max(_PAUSE_S, _PAUSE_SHARE * rest_s):
        return []
    after_s = (facts["longest_pause_start_us"] - facts["t_first_us"]) / 1e6
    rest_s -= pause_s
    rate = f"; {_rate(facts['n_events'] / rest_s)} without it" if rest_s > 0 else ""
    return [("longest pause", f"{pause_s:.3f} s, {after_s:.3f} s after the first event{rate}")]


def _rate(rate_hz: float) -> str:
    for unit, word in ((1e6, "million "), (1e3, "thousand ")):
        if rate_hz >= unit:
            return f"{rate_hz / unit:,.1f} {word}events/s"
    return f"{rate_hz:.0f} events/s" if rate_hz >= 100 else f"{rate_hz:.3g} events/s"
