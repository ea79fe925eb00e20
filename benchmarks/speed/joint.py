"""Time of the joint problem with `exact`, with our compiled Adam, and with plain torch. Prints JSON.

Command: ``python -m benchmarks.speed.joint [--torch-steps N]``.

Compared: one simulated window, translation, without prior motion. `exact` and `paper` search for the
motion first; torch starts from the result. Torch votes bilinearly, so that its J is compared with that
of `exact` on such a map. It runs with one thread and with its default; the faster counts. All others
use one core.

Floor: `evaluation`, one value with its gradient, and `confidence`, the closed form of W.
"""

import argparse
import importlib.util
import statistics

import numpy as np
from benchmarks.measure import interleaved, report

import evcrisp
from evcrisp.contrast import ContrastMap
from evcrisp.core.windows import Window
from evcrisp.estimators.joint.confidence_map import solve_confidence
from evcrisp.estimators.joint.exact import ExactRegret
from evcrisp.estimators.joint.paper import PaperRegret
from evcrisp.estimators.joint.problem import JointProblem
from evcrisp.search.search import find_motion
from evcrisp.search.window_data import WindowData


def window_of(n_events):
    """Return a window of 30 ms with about ``n_events`` events, a quarter of them noise."""
    scene = evcrisp.simulate(duration_us=30_000, window_us=30_000, noise_hz=3.0, seed=11)
    share = min(1.0, n_events / len(scene.events))
    kept = np.random.default_rng(0).random(len(scene.events)) < share
    return Window(scene.events[kept], 0, 30_000), scene.motion


def torch_seconds(problem, theta, n_steps, factor):
    """Return seconds with the faster number of threads, times ``factor``, and J."""
    import torch
    from benchmarks import torch_joint

    default = torch.get_num_threads()
    results = {}
    for threads in sorted({1, default}):
        torch.set_num_threads(threads)
        torch_joint.minimize(problem, theta, 3)
        results[threads] = torch_joint.minimize(problem, theta, n_steps)
    threads = min(results, key=lambda key: results[key][2])
    _, value, seconds = results[threads]
    return {
        "threads": threads,
        "seconds": factor * seconds,
        "seconds_by_threads": {str(key): factor * results[key][2] for key in results},
        "j": value / problem.terms.baseline_ed,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=35_000)
    parser.add_argument("--steps", type=int, default=1000, help="steps of Adam")
    parser.add_argument(
        "--torch-steps", type=int, help="number of steps of torch, scaled up; default: all"
    )
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    window, model = window_of(options.events)
    exact, paper = ExactRegret(), PaperRegret(n_steps=options.steps)
    data = WindowData.of(window, model)
    problem = JointProblem.from_data(data, exact)
    theta = find_motion(data).theta
    iwe = problem.iwe(theta)
    cases = {
        "exact": lambda: exact.run(window, model),
        "search": lambda: find_motion(data),
        "evaluation": lambda: problem.value_and_gradient(theta),
        "confidence": lambda: solve_confidence(iwe, problem.terms),
    }
    seconds = interleaved(cases, 10 * options.repeats)
    seconds |= interleaved({"paper": lambda: paper.run(window, model)}, options.repeats, warm_up=0)
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    unit = problem.terms.baseline_ed
    results = {
        "events": len(data),
        "median_seconds": medians,
        "paper_over_exact": medians["paper"] / medians["exact"],
        "j_exact": exact.run(window, model).regret.value / unit,
        "j_paper": paper.run(window, model).regret.value / unit,
    }
    if importlib.util.find_spec("torch"):
        n_steps = options.torch_steps or options.steps
        bilinear = ExactRegret(contrast=ContrastMap())
        results["j_exact_bilinear"] = bilinear.run(window, model).regret.value
        problem = JointProblem.from_data(data, bilinear)
        results["j_exact_bilinear"] /= problem.terms.baseline_ed
        plain = torch_seconds(problem, theta, n_steps, options.steps / n_steps)
        results["torch"] = plain
        results["torch_over_exact"] = plain["seconds"] / medians["exact"]
    report("joint", results, steps=options.steps, torch_steps=options.torch_steps)


if __name__ == "__main__":
    main()
