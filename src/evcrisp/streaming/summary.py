"""Counts and latencies of a live session."""

from dataclasses import dataclass
from typing import Any

from evcrisp.core.messages import counted


@dataclass(frozen=True, slots=True)
class LiveSummary:
    """Result of a live session.

    Latency is the time from the arrival of a packet until the labels of all its events are out.
    """

    source: str
    method: str
    n_events: int  # that arrived in good packets
    n_labeled: int
    n_kept: int
    n_dropped: int  # of those that arrived: overload
    n_windows: int  # 0 for filters
    n_reused: int  # of the windows: labels by the motion of an earlier one, for lack of time
    n_searched: int  # windows whose motion was searched
    n_damaged: int  # packets that were skipped
    n_reconnects: int
    n_clock_restarts: int
    n_lost: int  # messages that did not arrive, by their sequence numbers
    n_unsent: dict[str, int]  # events that slow receivers did not get, by sink
    latency_p50_ms: float | None  # None without labels
    latency_p95_ms: float | None
    duration_s: float
    n_sensor_data_dropped: int = 0  # packets, while no events came

    def facts(self) -> dict[str, Any]:
        """Return the fields as JSON types."""
        return {name: getattr(self, name) for name in self.__slots__}

    def page(self) -> str:
        """Return the summary as text."""
        windows = f", {counted(self.n_windows, 'window')}" if self.n_windows else ""
        share = f" ({self.n_kept / self.n_labeled:.1%})" if self.n_labeled else ""
        lines = [
            f"{counted(self.n_events, 'event')} in {self.duration_s:.1f} s from {self.source}",
            f"kept {self.n_kept:,}{share} with {self.method}{windows}",
            f"dropped {self.n_dropped:,} (overload)",
        ]
        if self.n_reused:
            lines.append(
                f"reused the motion of an earlier window in {self.n_reused:,} windows, to keep up; "
                f"{self.n_searched:,} were searched"
            )
        if self.latency_p50_ms is not None and self.latency_p95_ms is not None:
            p50, p95 = self.latency_p50_ms, self.latency_p95_ms
            lines.append(f"latency {p50:.1f} ms (median), {p95:.1f} ms (95 %)")
        troubles = {
            "damaged packets skipped": self.n_damaged,
            "messages that did not arrive": self.n_lost,
            "packets of sensor data dropped": self.n_sensor_data_dropped,
            "reconnections": self.n_reconnects,
            "restarts of the clock": self.n_clock_restarts,
            **{f"events that receivers of {k} did not get": n for k, n in self.n_unsent.items()},
        }
        return "\n".join([*lines, *(f"{what}: {n:,}" for what, n in troubles.items() if n)])
