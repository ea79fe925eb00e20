"""Print the event rate in windows of 10 ms: event_rate.py INPUT."""

import sys

import evcrisp


def main(source: str) -> None:
    """Cut the chunks of a recording into windows."""
    with evcrisp.open(source) as recording:
        for window in evcrisp.by_time(recording.chunks(), duration_us=10_000):
            rate_khz = len(window.events) / 10
            print(f"{window.t_start / 1e6:10.3f} s {rate_khz:8.1f} thousand events/s")


if __name__ == "__main__":
    main(sys.argv[1])
