"""The compromise on Pareto fronts of simulated and real windows. Prints a table.

Command: ``python -m benchmarks.quality.pareto [--data DIR] [--beta-hat VALUE ...]``. Real windows are left
out without DIR (default: ``EVCRISP_DATA``).

Compared: the compromise with the alignment end of the same front. Contrast and denoised contrast are
ratios, the drift is the displacement between their motions over the window, px; accuracy is the mean of
sensitivity and specificity of simulated windows.
"""

import argparse
import logging
import os
from pathlib import Path

import numpy as np
from benchmarks.measure import print_table

import evcrisp
from evcrisp.estimators.joint.exact import ExactRegret
from evcrisp.metrics import confusion
from evcrisp.search.local_refinement import window_scaling

SCENES = {
    "2 Hz/px": {"noise_hz": 2.0},
    "10 Hz/px": {"noise_hz": 10.0},
    "30 Hz/px": {"noise_hz": 30.0},
    "dots": {"texture": "dots", "noise_hz": 5.0},
    "rocks": {"texture": "rocks", "noise_hz": 5.0},
    "slow": {"theta": (40.0, 20.0), "noise_hz": 5.0},
}
#: Recording -> start and end of its window, us after the first event.
REAL = {
    "emlb/demo-01.aedat4": (100_000, 130_000),
    "ecd/stppp_boxes_translation": (0, 30_000),
    "ecd/stppp_dynamic_translation": (0, 40_000),
    "ecd/slider_depth_chunk": (0, 30_000),
    "aedat4/dvxplorer_320x240_tonic_sample.aedat4": (100_000, 130_000),
    "dvs128-mat/stripes.mat": (100_000, 130_000),
    "eventstream/dvs.es": (100_000, 130_000),
}


def windows(data_dir):
    """Yield the name and the events of every window."""
    for seed, (name, settings) in enumerate(SCENES.items(), 1):
        scene = evcrisp.simulate(duration_us=30_000, resolution=(160, 120), seed=seed, **settings)
        yield name, scene.events
    for name, (first, last) in REAL.items():
        if Path(data_dir, name).exists():
            events = evcrisp.read(Path(data_dir, name))
            yield name, events.between(int(events.t[0]) + first, int(events.t[0]) + last)


def row_of(events, beta_hat):
    """Return the measures of the compromise of one window."""
    front = evcrisp.pareto_front(events, config=ExactRegret(beta_hat=beta_hat))
    end, chosen = front.points[0], front.regret
    scaling = window_scaling(front.problem.data)
    drift_px = np.linalg.norm(scaling.scaled(chosen.theta) - scaling.scaled(end.theta))
    row = [f"{front.regret_index} of {len(front)}", f"{chosen.lam:.2f}", f"{drift_px:.1f}"]
    row += [f"{chosen.f_ea / end.f_ea:.2f}", f"{chosen.f_ed / end.f_ed:.2f}"]
    row += [f"{chosen.signal.mean():.2f}", f"{end.signal.mean():.2f}"]
    if events.signal is None:
        return [*row, "-", "-"]
    return row + [
        f"{confusion(point.signal, events.signal).denoising_accuracy:.3f}"
        for point in (chosen, end)
    ]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder of real recordings")
    parser.add_argument("--beta-hat", type=float, nargs="+", default=[1.0])
    options = parser.parse_args(arguments)
    logging.disable(logging.WARNING)  # recordings without resolution
    data_dir = options.data or Path(os.environ.get("EVCRISP_DATA", "data"))
    head = [
        "window", "point", "lam", "drift, px", "contrast", "denoised", "kept", "kept, end", "accuracy",
        "accuracy, end",
    ]  # fmt: skip
    tables = {}
    for beta_hat in options.beta_hat:
        rows = [[name, *row_of(events, beta_hat)] for name, events in windows(data_dir)]
        print_table(f"Compromise at beta_hat = {beta_hat:g}", head, rows)
        tables[beta_hat] = rows
    return tables


if __name__ == "__main__":
    main()
