"""Print how many events come in each 10 ms of a recording: event_rate.py INPUT."""

import sys

import evcrisp


def main(source: str) -> None:
    """Read windows of time from a stream of chunks."""
    with evcrisp.open(source) as recording:
        for window in evcrisp.by_time(recording.chunks(), duration_us=10_000):
            rate_khz = len(window.events) / 10
            print(f"{window.t_start / 1e6:10.3f} s {rate_khz:8.1f} thousand events/s")


if __name__ == "__main__":
    main(sys.argv[1])
