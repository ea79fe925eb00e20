"""Coverage of the intervals of motions, and how often good motions are doubted. Prints JSON.

Command: ``python -m benchmarks.quality.uncertainty [--windows 600] [--layered 120] [--method auto]``.
Tables go to stderr.

Windows of scenes by a fixed rule: five textures with features of 16, 32 or 64 px, uniform noise of 0.5, 5
or 20 Hz per pixel, 10, 30 or 60 ms, six motion models, random motions (displacement 1.5 to 25 px, root mean
square over the view). A window of the same length lies before each, as in a recording. The model is given.
An interval is the parameter plus and minus 1.96 standard deviations; it should contain the truth in 95 %
of all cases. Intervals of doubtful motions are left out, and counted. Layers: one to three objects over
a moving background; velocity at the middle of each layer of which 80 % of the events are of one object.
"""

import argparse
import logging
from collections import Counter

import numpy as np
from benchmarks.measure import print_table, report
from benchmarks.quality.scenes import shift_px

import evcrisp
from evcrisp.core.windows import Window
from evcrisp.motion import motion_model
from evcrisp.simulation import ObjectConfig

RESOLUTION = (346, 260)
TEXTURES = ("shapes", "rocks", "checkerboard", "dots", "star")
NOISE_HZ = (0.5, 5.0, 20.0)
WINDOWS_US = (10_000, 30_000, 60_000)
MOTIONS = ("translation", "rotation", "similarity", "affine", "zoom", "homography")
DISPLACEMENTS_PX = (1.5, 25.0)

#: Every second window is a translation.
SHARE_OF_TRANSLATIONS = 2

#: Quantile of the normal distribution.
QUANTILE = 1.96


def simulated(i, seed):
    """Return facts, true parameters, window and model of window i."""
    rng = np.random.default_rng((seed, i))
    motion = "translation" if i % SHARE_OF_TRANSLATIONS else MOTIONS[(i // 2) % len(MOTIONS)]
    model = motion_model(motion, RESOLUTION)
    unit = np.array([1.0 / shift_px(model, row) for row in np.eye(len(model.param_names))])
    theta = unit * rng.standard_normal(unit.size)
    displacement = float(np.exp(rng.uniform(*np.log(DISPLACEMENTS_PX))))
    length = int(rng.choice(WINDOWS_US))
    # `shift_px` is for windows of 30 ms.
    theta *= displacement / shift_px(model, theta) * 30_000 / length
    facts = {
        "texture": str(rng.choice(TEXTURES)),
        "noise_hz": float(rng.choice(NOISE_HZ)),
        "window_us": length,
        "motion": motion,
        "displacement_px": "below 3"
        if displacement < 3
        else "3 to 10"
        if displacement < 10
        else "above 10",
    }
    scene = evcrisp.simulate(
        motion=motion, theta=tuple(theta.tolist()), texture=facts["texture"], seed=i,
        noise_hz=facts["noise_hz"], duration_us=2 * length, window_us=length,
        feature_px=float(rng.choice((16, 32, 64))), resolution=RESOLUTION,
    )  # fmt: skip
    window = Window(scene.events.between(length, 2 * length), length, 2 * length)
    return facts, theta, window, model


def one_motion(n_windows, method, seed):
    """Return per window: facts, whether it is reliable, codes, and errors in standard deviations."""
    rows = []
    for i in range(n_windows):
        facts, theta, window, model = simulated(i, seed)
        result = evcrisp.estimate(window, method, model)
        codes = [doubt.code for doubt in result.doubts]
        rows.append((facts, result.reliable, codes, np.abs(result.theta - theta) / result.std))
    return rows


def layered(n_windows, seed):
    """Return errors of the velocities of reliable layers in standard deviations, and shares."""
    sigmas, n_layers, n_reliable, n_windows_reliable = [], 0, 0, 0
    for i in range(n_windows):
        rng = np.random.default_rng((seed, 1, i))
        velocities = [random_velocity(rng, 30.0, 300.0)]
        things = []
        for _ in range(1 + i % 3):
            velocities.append(random_velocity(rng, 80.0, 500.0))
            things.append(
                ObjectConfig(
                    motion="translation",
                    theta=tuple(velocities[-1]),
                    size=tuple(rng.uniform(0.2, 0.45, 2)),
                    center=tuple(rng.uniform(0.25, 0.75, 2)),
                )
            )
        scene = evcrisp.simulate(
            theta=tuple(velocities[0]), objects=tuple(things), texture=str(rng.choice(TEXTURES)),
            noise_hz=float(rng.choice(NOISE_HZ)), duration_us=60_000, window_us=30_000, seed=i,
        )  # fmt: skip
        window = Window(scene.events.between(30_000, 60_000), 30_000, 60_000)
        owner = scene.object[(scene.events.t >= 30_000) & (scene.events.t < 60_000)]
        result = evcrisp.estimate(window)
        n_windows_reliable += result.reliable
        for layer in result.layers:
            counts = np.bincount(np.maximum(owner[result.layer == layer.index], 0).astype(int))
            if len(layer) < 200 or counts.max() < 0.8 * len(layer):
                continue
            n_layers += 1
            if layer.doubts or not layer.theta.any():
                continue
            n_reliable += 1
            error = np.abs(layer.velocity - velocities[int(counts.argmax())])
            sigmas.append(error / layer.velocity_std)
    return {
        "coverage": share_within(sigmas),
        "n_intervals": 2 * len(sigmas),
        "reliable_layers": n_reliable / max(n_layers, 1),
        "reliable_windows": n_windows_reliable / max(n_windows, 1),
    }


def random_velocity(rng, low, high):
    """Return a velocity of random direction, px/s."""
    angle, speed = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(low, high)
    return speed * np.array([np.cos(angle), np.sin(angle)])


def share_within(sigmas):
    """Return the share of intervals of 95 % that contain the truth."""
    return float(np.mean(np.concatenate(sigmas) < QUANTILE)) if sigmas else float("nan")


def table(rows):
    """Return coverage, number of intervals and share of doubted windows by kind of window."""
    out = {}
    for name in rows[0][0]:
        for value in sorted({facts[name] for facts, *_ in rows}, key=str):
            part = [row for row in rows if row[0][name] == value]
            good = [sigmas for _, is_reliable, _, sigmas in part if is_reliable]
            out[f"{name} {value}"] = {
                "coverage": share_within(good),
                "n_intervals": sum(map(len, good)),
                "doubted": 1.0 - len(good) / len(part),
            }
    return out


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--windows", type=int, default=600)
    parser.add_argument("--layered", type=int, default=120)
    parser.add_argument("--method", default="auto")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    logging.disable(logging.WARNING)
    rows = one_motion(args.windows, args.method, args.seed)
    good = [sigmas for _, is_reliable, _, sigmas in rows if is_reliable]
    by_kind = table(rows)
    print_table(
        "intervals of 95 %",
        ["windows", "coverage", "intervals", "doubted"],
        [
            [kind, f"{row['coverage']:.3f}", str(row["n_intervals"]), f"{row['doubted']:.3f}"]
            for kind, row in by_kind.items()
        ],
    )
    report(
        "uncertainty",
        {
            "coverage": share_within(good),
            "n_windows": len(rows),
            "median_sigmas": float(np.median(np.concatenate(good))),
            "doubted": 1.0 - len(good) / len(rows),
            "doubts": dict(Counter(code for *_, codes, _ in rows for code in codes)),
            "by_kind": by_kind,
            "layers": layered(args.layered, args.seed) if args.layered else None,
        },
        method=args.method,
        seed=args.seed,
    )


if __name__ == "__main__":
    main()
