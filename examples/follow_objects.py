"""Follow the objects of a recording and draw its last window: follow_objects.py INPUT PICTURE."""

import sys
from pathlib import Path

import evcrisp
from evcrisp.plots import figure, save_figure


def follow(source: str, picture: str) -> None:
    """Print the layers of each window; draw those of the last one. Needs the extra ``plot``."""
    result = None
    with evcrisp.open(source) as recording:
        for result in evcrisp.track(recording, windowing=evcrisp.Windowing(window_us=30_000)):
            for layer in result.layers:  # the same number for the same object in all windows
                vx, vy = layer.velocity
                print(f"{result.window.t_ref} us, layer {layer.id}: ({vx:.0f}, {vy:.0f}) px/s")
    if result is not None:
        save_figure(figure("layers", estimate=result), Path(picture))


if __name__ == "__main__":
    follow(*sys.argv[1:3])
