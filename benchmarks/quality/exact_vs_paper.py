"""Solutions of `exact` against those of `paper`. Prints JSON.

Command: ``python -m benchmarks.quality.exact_vs_paper [--data FOLDER] [--limit N]``.

Compared: both modes from the same motion in every window, for parameters with lam = 0 (alignment has
the larger regret, the default), lam = 1 without motion (denoising has), and between.

joint     J of `exact` minus J of `paper` after 1000 steps, relative to the larger of |J - b_EA| and
          b_ED: b_EA is an arbitrary constant, and J may be negative. The limit is 1e-6.
W         largest difference of the confidence maps at these solutions, where both have the same
          lam of 0 or 1
W alone   the same at a fixed motion, that of `exact` with defaults: Adam on W against the closed form,
          for a b_EA of each regime

No full window has its solution at lam = 1: the motion moves away from alignment until both regrets
are equal, even for b_EA = 0. Only windows with few events that hardly overlap without motion have no
motion of low enough contrast. Therefore 500 events are taken of each window (``sparse``):

joint     both modes from the motion of the search, as above; they rarely find the same of many minima
W there   W of `paper` against the closed form, at the last motion of `paper`. W lags behind a large
          motion, and 1000 steps are not always enough.
beside    `paper` with 5000 short steps from 0.01 px beside the solution of `exact`. It does not
          return there if events leave the map, where J is discontinuous, or if `exact` ended at the
          collapse bound, which `paper` does not have.

Floor: an excess of 0, equal J. Seconds include the search for the first motion, which both modes
share, and the minimization; the median of three for the short ones.
"""

import argparse
import logging
import statistics
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from benchmarks.measure import report
from benchmarks.quality.scenes import ECD_ROTATIONS, real, simulated

import evcrisp
from evcrisp.core.windows import by_count
from evcrisp.estimators.joint.exact import ExactRegret
from evcrisp.estimators.joint.paper import PaperRegret
from evcrisp.estimators.joint.problem import JointProblem, JointWindow
from evcrisp.motion import Rotation, Translation
from evcrisp.search.local_refinement import window_scaling
from evcrisp.search.search import find_motion

#: Simulated scenes with fewer than 150 000 events, with noise of 5 Hz per pixel.
SCENES = (0, 3, 4, 8, 9, 10, 11, 13, 14, 15, 16)
NOISE_HZ = 5.0

#: More real windows: folder, model, events per window, and which windows.
ECD_MORE = (
    ("stppp_boxes_translation", "translation", 30_000, (0,)),
    ("stppp_dynamic_translation", "translation", 30_000, (0,)),
    ("stppp_poster_translation", "translation", 30_000, (0,)),
    ("shapes_rotation_first120k", "rotation", 20_000, (2, 4)),
    ("slider_depth_chunk", "translation", 25_000, (0, 1)),
)

SETTINGS = {
    "default": {},
    "balanced": {"b_hat": 1.0},
    "low": {"b_hat": 0.0, "beta_hat": 2.0},
}

#: Parameters of the sparse windows, their number of events, and the seed of the selection.
SPARSE = {"b_hat": 0.0, "beta_hat": 10.0, "min_support": 0.5}
SPARSE_EVENTS, SPARSE_SEED = 500, 0

#: Distance from the solution of `exact`, px, first step of `paper`, px, and factor of the number of steps.
#: W within 1e-3 needs a motion within 1e-3 px, for which Adam needs more than 1000 steps in flat valleys.
BESIDE_PX, BESIDE_RATE_PX, BESIDE_LONGER = 0.01, 0.002, 5

#: b_EA of the regimes of W alone, as a share of Var M + Var(W M) - b_ED at lam = 0.
REGIMES = {"lam = 0": 1.5, "between": None, "lam = 1": 0.0}


def windows(data_dir):
    """Yield name, window and motion model."""
    for i in SCENES:
        case = simulated(i, NOISE_HZ)
        yield case.name, case.window, case.model
    if not data_dir:
        return
    for name in ECD_ROTATIONS:
        case = real(data_dir, name, share=0.0)
        yield name, case.window, case.model
    for name, motion, n_events, which in ECD_MORE:
        folder = data_dir / "ecd" / name
        camera = evcrisp.Camera.from_file(folder / "calib.txt")
        model = Rotation(camera) if motion == "rotation" else Translation()
        cut = list(by_count(evcrisp.read(next(folder.glob("events*"))), n_events))
        for k in which:
            yield f"{name} {k}", cut[k], model


def timed(function, repeats=3):
    """Return the result of a function, and its median seconds."""
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        result = function()
        seconds.append(time.perf_counter() - began)
    return result, statistics.median(seconds)


def unit_of(problem, value):
    """Return the scale of differences of J."""
    return max(abs(value - problem.terms.baseline_ea), problem.terms.baseline_ed)


def compared(problem, found, search_s, setting, n_steps):
    """Compare both modes from one start."""
    exact, paper = ExactRegret(**setting), PaperRegret(**setting, n_steps=n_steps)
    start, curvature = found.theta, found.inverse_hessian
    end, exact_s = timed(lambda: exact.descend(problem, start, curvature))
    best = problem.solve(end.theta)
    other, paper_s = timed(lambda: paper.descend(problem, start), repeats=1)
    unit = unit_of(problem, other.regret.value)
    scaling = window_scaling(problem.data)
    there = problem.solve(other.theta)
    return {
        "lam": best.lam,
        "lam_of_closed_form_at_papers_theta": there.lam,
        "j_exact": best.value / problem.terms.baseline_ed,
        "j_paper": other.regret.value / problem.terms.baseline_ed,
        "excess": (best.value - other.regret.value) / unit,
        "excess_over_best_step": (best.value - float(other.values.min())) / unit,
        "apart_px": float(np.linalg.norm(scaling.scaled(end.theta - other.theta))),
        "w_difference": float(np.abs(best.w_map() - other.w_map).max()),
        "w_difference_at_papers_theta": float(np.abs(there.w_map() - other.w_map).max()),
        "evaluations": end.n_eval,
        "speed_ratio": (search_s + paper_s) / (search_s + exact_s),
    }


def w_alone(problem, theta, share, n_steps):
    """Compare Adam on W with the closed form at one motion."""
    terms = problem.terms
    free, bound = problem.solve(theta, 0.0), problem.solve(theta, 1.0)
    target = 0.5 * (free.f_ed + bound.f_ed) if share is None else share * free.f_ed
    baseline = target + free.f_ea - terms.baseline_ed
    problem = replace(problem, terms=replace(terms, baseline_ea=baseline))
    best = problem.solve(theta)
    end = PaperRegret(rate_px=0.0, n_steps=n_steps).descend(problem, theta)
    return {
        "lam": best.lam,
        "gap": best.gap / terms.baseline_ed,
        "excess": (best.value - end.regret.value) / unit_of(problem, end.regret.value),
        "w_difference": float(np.abs(best.w_map() - end.w_map).max()),
    }


def sparse(window, model, n_steps):
    """Compare both modes on few events of a window, with lam = 1 at the solution."""
    rng = np.random.default_rng(SPARSE_SEED)
    chosen = np.sort(rng.choice(len(window.events), SPARSE_EVENTS, replace=False))
    few = replace(window, events=window.events[chosen])
    data = JointWindow.from_window(few, model, ExactRegret()).problem.data
    found, search_s = timed(lambda: find_motion(data))
    problem = JointProblem.from_data(data, ExactRegret(**SPARSE))
    return {
        **compared(problem, found, search_s, SPARSE, n_steps),
        "beside": beside(problem, found, n_steps),
    }


def beside(problem, found, n_steps):
    """Run `paper` from a start beside the solution of `exact`."""
    end = ExactRegret(**SPARSE).descend(problem, found.theta, found.inverse_hessian)
    best = problem.solve(end.theta)
    scaling, m = window_scaling(problem.data), end.theta.size
    start = end.theta + scaling.theta(np.full(m, BESIDE_PX / np.sqrt(m)))
    paper = PaperRegret(**SPARSE, n_steps=BESIDE_LONGER * n_steps, rate_px=BESIDE_RATE_PX)
    other = paper.descend(problem, start)
    return {
        "status_of_exact": end.status.name,
        "excess": (best.value - other.regret.value) / unit_of(problem, other.regret.value),
        "apart_px": float(np.linalg.norm(scaling.scaled(end.theta - other.theta))),
        "w_difference": float(np.abs(best.w_map() - other.w_map).max()),
    }


def measured(name, window, model, n_steps, settings):
    """Return everything about one window."""
    data = JointWindow.from_window(window, model, ExactRegret()).problem.data
    found, search_s = timed(lambda: find_motion(data))
    start = found.theta
    result = {"window": name, "events": len(data)}
    for label in settings:
        problem = JointProblem.from_data(data, ExactRegret(**SETTINGS[label]))
        result[label] = compared(problem, found, search_s, SETTINGS[label], n_steps)
    problem = JointProblem.from_data(data, ExactRegret())
    theta = ExactRegret().descend(problem, start).theta
    for label, share in REGIMES.items():
        result[f"W alone, {label}"] = w_alone(problem, theta, share, n_steps)
    result["sparse"] = sparse(window, model, n_steps)
    return result


def summary(rows, settings):
    """Return the summary of all windows."""
    joint = [row[label] for row in rows for label in settings]
    pure = [
        item
        for item in joint
        if item["lam"] == item["lam_of_closed_form_at_papers_theta"] in (0.0, 1.0)
    ]
    fixed = [row[f"W alone, {label}"] for row in rows for label in ("lam = 0", "lam = 1")]
    between = [row["W alone, between"] for row in rows]
    return {
        "windows": len(rows),
        "joint_problems": len(joint),
        "with_lam_between": sum(0.0 < item["lam"] < 1.0 for item in joint),
        "above_1e-6": sum(item["excess"] > 1e-6 for item in joint),
        "worst_excess": max(item["excess"] for item in joint),
        "worst_excess_by_setting": {
            label: max(row[label]["excess"] for row in rows) for label in settings
        },
        "median_excess": float(np.median([item["excess"] for item in joint])),
        "with_lam_0_or_1": len(pure),
        "with_lam_1": sum(item["lam"] == 1.0 for item in joint),
        "worst_w_difference_joint_lam_0_or_1": max(
            (item["w_difference"] for item in pure), default=None
        ),
        "worst_w_difference_same_theta": max(item["w_difference"] for item in fixed),
        "worst_excess_same_theta": max(item["excess"] for item in fixed + between),
        "worst_gap_same_theta": max(abs(item["gap"]) for item in fixed + between),
        "median_speed_ratio": statistics.median(item["speed_ratio"] for item in joint),
        "median_speed_ratio_by_setting": {
            label: statistics.median(row[label]["speed_ratio"] for row in rows)
            for label in settings
        },
        "lowest_speed_ratio_by_setting": {
            label: min(row[label]["speed_ratio"] for row in rows) for label in settings
        },
    }


def sparse_summary(rows):
    """Return the summary of the sparse windows."""
    items = [row["sparse"] for row in rows]
    ones = [item for item in items if item["lam_of_closed_form_at_papers_theta"] == 1.0]
    near = [item["beside"] for item in items if item["lam"] == 1.0]
    return {
        "windows": len(items),
        "with_lam_1": len(near),
        "with_lam_1_where_paper_ended": len(ones),
        "worst_w_difference_at_papers_theta": max(
            (item["w_difference_at_papers_theta"] for item in ones), default=None
        ),
        "above_1e-6": sum(item["excess"] > 1e-6 for item in items),
        "worst_excess": max(item["excess"] for item in items),
        "median_excess": float(np.median([item["excess"] for item in items])),
        "beside_above_1e-6": sum(item["excess"] > 1e-6 for item in near),
        "beside_w_within_1e-3": sum(item["w_difference"] <= 1e-3 for item in near),
        "beside_median_w_difference": float(np.median([item["w_difference"] for item in near])),
        "median_speed_ratio": statistics.median(item["speed_ratio"] for item in items),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder of real recordings")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--settings", nargs="+", choices=tuple(SETTINGS), default=tuple(SETTINGS))
    parser.add_argument("--limit", type=int, help="only the first windows")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # recordings without a resolution
    cases = list(windows(options.data))[: options.limit]
    rows = [measured(*case, options.steps, options.settings) for case in cases]
    results = {
        "summary": summary(rows, options.settings),
        "sparse_summary": sparse_summary(rows),
        "windows": rows,
    }
    settings = {**SETTINGS, "sparse": SPARSE}
    report("exact_vs_paper", results, steps=options.steps, settings=settings, noise_hz=NOISE_HZ)


if __name__ == "__main__":
    main()
