"""Dependence of labels on the noise level of tuning (Table II of the paper). Prints JSON.

Command: ``python -m benchmarks.quality.stability [--data FOLDER] [--scenes 18]``.

Compared: 1, 5 and 10 % of uniform noise is added to each window. A method is tuned at one level and
runs on all three.

exact   `exact`, tuned so that sensitivity and specificity are equal on average (`min_support`)
eja     `eja`, with the share of signal of that level, which it requires

Floor: a range of 0, labels that do not depend on the level.
"""

import argparse
import logging
from pathlib import Path

import numpy as np
from benchmarks.measure import report
from benchmarks.quality.scenes import DURATION_US, ECD_ROTATIONS, real, scene_settings, with_noise

import evcrisp
from evcrisp.core.windows import Window
from evcrisp.estimators.baselines.eja import Eja
from evcrisp.estimators.joint.exact import ExactRegret
from evcrisp.metrics.labels import sensitivity, specificity

LEVELS = (0.01, 0.05, 0.10)

#: Range of the search for `min_support`, and number of bisections.
SUPPORTS, N_BISECTIONS = (0.5, 40.0), 10


def simulated(scenes):
    """Yield name, model and windows with added noise of clean simulated scenes."""
    for i in scenes:
        settings = scene_settings(i)
        scene = evcrisp.simulate(**settings)
        yield f"{i:02d} {settings['motion']}, {settings['texture']}", scene.motion, scene.events


def levels_of(events, seed):
    """Return window and truth for each level of noise."""
    cases = []
    for share in LEVELS:
        noisy, signal = with_noise(events, share, seed)
        cases.append((Window(noisy, int(noisy.t[0]), int(noisy.t[-1]) + 1), signal))
    return cases


def recordings(data_dir, scenes):
    """Return name, model and cases of all windows."""
    items = [(name, model, levels_of(events, 0)) for name, model, events in simulated(scenes)]
    for name in ECD_ROTATIONS if data_dir else ():
        cases = [real(data_dir, name, share, seed=0) for share in LEVELS]
        items.append((name, cases[0].model, [(case.window, case.signal) for case in cases]))
    return items


def rates_of(signal, truth):
    return sensitivity(signal, truth), specificity(signal, truth)


class ExactMethod:
    """Runs of `exact` that start from the motion of the last run on the same window."""

    def __init__(self):
        self.thetas = {}

    def rates(self, items, level, min_support):
        """Return mean sensitivity and specificity at one level of noise."""
        estimator = ExactRegret(min_support=min_support)
        rates = []
        for w, (_, model, cases) in enumerate(items):
            window, truth = cases[level]
            result = estimator.run(window, model, self.thetas.get((w, level)))
            self.thetas[w, level] = result.theta
            rates.append(rates_of(result.signal, truth))
        return np.mean(rates, axis=0)

    def tuned(self, items, level):
        """Return the `min_support` at which both rates are equal."""
        low, high = np.log(SUPPORTS)
        for _ in range(N_BISECTIONS):
            middle = 0.5 * (low + high)
            kept, dropped = self.rates(items, level, float(np.exp(middle)))
            low, high = (middle, high) if kept > dropped else (low, middle)
        return float(np.exp(0.5 * (low + high)))


def eja_rates(items, tuned_level, level):
    """Return mean sensitivity and specificity at one level of noise."""
    estimator = Eja(tau=1.0 / (1.0 + LEVELS[tuned_level]))
    rates = []
    for _, model, cases in items:
        window, truth = cases[level]
        rates.append(rates_of(estimator.run(window, model).signal, truth))
    return np.mean(rates, axis=0)


def table(rates):
    """Return both 3 x 3 tables, and their ranges within a tuning and over all cells."""
    result = {}
    for j, name in enumerate(("sensitivity", "specificity")):
        cells = rates[..., j]
        result[name] = np.round(cells, 4).tolist()
        result[f"{name}_range_over_noise"] = float(np.ptp(cells, axis=1).max())
        result[f"{name}_range"] = float(np.ptp(cells))
    return result


def summary(items, which):
    """Return the tables of both methods over some windows."""
    chosen = [items[w] for w in which]
    exact, levels = ExactMethod(), range(len(LEVELS))
    supports = [exact.tuned(chosen, level) for level in levels]
    rates = [[exact.rates(chosen, level, support) for level in levels] for support in supports]
    return {
        "windows": [item[0] for item in chosen],
        "tuned_min_support": supports,
        "exact": table(np.array(rates)),
        "eja": table(np.array([[eja_rates(chosen, j, k) for k in levels] for j in levels])),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder of real recordings")
    parser.add_argument("--scenes", type=int, default=18, help="number of simulated scenes")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # recordings without a resolution
    items = recordings(options.data, range(options.scenes))
    groups = {
        "simulated": [w for w, item in enumerate(items) if item[0] not in ECD_ROTATIONS],
        "real": [w for w, item in enumerate(items) if item[0] in ECD_ROTATIONS],
    }
    results = {name: summary(items, which) for name, which in groups.items() if which}
    report("stability", results, levels=LEVELS, duration_us=DURATION_US)


if __name__ == "__main__":
    main()
