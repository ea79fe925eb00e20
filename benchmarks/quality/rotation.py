"""Rotation in real recordings, against a gyroscope and against other estimates. Prints JSON.

Command: ``python -m benchmarks.quality.rotation --data FOLDER``. Tables for people go to stderr.

Compared: methods with their defaults; `eja` also on a smooth contrast map, since bilinear votes are
sharpest at whole pixels.

disk      A DAVIS240C that rolls about its optical axis: roll rate per window against minus gyro z,
          averaged over the window. No calibration is needed: a roll looks the same through any
          lens without distortion. The bias is positive if the estimate is too fast.
windows   Six rotation windows of the Event Camera Dataset with calibration, against plain fits and,
          if present, `motion.txt`. The angle is between the vectors: a wrong sign gives 180.

Floor: the plain fits, rotations that maximize the variance. They validate sign, axis and the 15 %
level; see the README of the data folder. The origin of `motion.txt`, present for three windows, is
unknown. It was probably estimated in an undistorted image with shorter focal lengths (`ZOOM`) than
those of the conversion from px to rad; correct norms are then 12 to 17 % larger. The ratio is given
without and with this factor.
"""

import argparse
import logging
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.measure import print_table, report
from benchmarks.quality.motion import SMOOTH
from benchmarks.quality.scenes import ECD_ROTATIONS, real

import evcrisp
from evcrisp.core.sensor_data import Imu
from evcrisp.core.status import Status
from evcrisp.pipeline.tracking import track
from evcrisp.pipeline.windowing import Windowing

#: Rows of the tables: method and parameters other than its defaults.
METHODS = {
    "auto": ("auto", {}),
    "cmax": ("cmax", {}),
    "eja": ("eja", {}),
    "eja, smooth map": ("eja", {"contrast": SMOOTH}),
    "exact": ("exact", {}),
    "baf+cmax": ("baf+cmax", {}),
}
WINDOWS_MS = (30, 50, 100)
DISK = Path("aedat2", "davis240c_IMU_rotDisk.aedat")

#: Focal lengths of the largest undistorted image without empty borders, over those of the calibration:
#: 0.851 along x and 0.905 along y. A rotation about x moves the image along y, and vice versa.
ZOOM = np.array([0.905, 0.851, 1.0])


@dataclass(frozen=True, slots=True, eq=False)
class Disk:
    """The recording with its gyroscope."""

    events: evcrisp.Events
    imu: Imu

    @classmethod
    def of(cls, data_dir):
        """Read the recording."""
        with evcrisp.open(data_dir / DISK) as recording:
            return cls(recording.read(), recording.imu())

    def roll_rate(self, window):
        """Return the mean roll rate of a window by the gyroscope, rad/s."""
        inside = (self.imu.t >= window.t_start) & (self.imu.t < window.t_end)
        return -float(self.imu.gyro_rad_s[inside, 2].mean())


def disk_errors(disk, method, window_ms):
    """Return the errors of a method over all windows of the recording, deg/s."""
    windows = Windowing(window_us=1000 * window_ms)
    name, params = METHODS[method]
    found = list(track(disk.events, name, "rotation", windowing=windows, **params))
    rates = np.degrees([[one.theta[2], disk.roll_rate(one.window)] for one in found])
    errors = rates[:, 0] - rates[:, 1]
    # The recording ends within the last window.
    whole = np.array([one.window.t_end - one.window.t_start == windows.window_us for one in found])
    return {
        "rmse": _root_mean_square(errors),
        "bias": float(np.mean(errors * np.sign(rates[:, 1]))),
        "max": float(np.abs(errors).max()),
        "windows": len(found),
        "not_converged": sum(one.status is not Status.CONVERGED for one in found),
        "rmse_of_whole_windows": _root_mean_square(errors[whole]),
        "whole_windows": int(whole.sum()),
        "mean_rate": float(rates[:, 1].mean()),
    }


def _root_mean_square(values):
    return float(np.sqrt(np.mean(np.square(values))))


def agreement(theta, other):
    """Return the angle between two rotations, degrees, and the ratio of their norms."""
    norm, other_norm = np.linalg.norm(theta), np.linalg.norm(other)
    cosine = float(theta @ other) / (norm * other_norm)
    return {
        "angle_deg": float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))),
        "ratio": float(norm / other_norm),
    }


def window_agreement(data_dir, name):
    """Return the agreement of all methods with the references of a window."""
    case = real(data_dir, name, share=0.0)
    truth = data_dir / "ecd" / name / "motion.txt"
    published = np.loadtxt(truth) if truth.exists() else None
    result = {}
    camera = case.model.camera
    for method, (plain, params) in METHODS.items():
        theta = evcrisp.estimate(case.window, plain, "rotation", camera=camera, **params).theta
        result[method] = {
            "theta_rad_s": theta.tolist(),
            "plain_fit": agreement(theta, case.theta),
        }
        if published is not None:
            result[method]["motion_txt"] = agreement(theta, published)
            result[method]["motion_txt, with its zoom"] = agreement(ZOOM * theta, published)
    return result


def window_summary(table):
    """Return the largest angle and the range of ratios of each method, per reference."""
    summary = {}
    for method in METHODS:
        rows = [window[method] for window in table.values()]
        for reference in ("plain_fit", "motion_txt", "motion_txt, with its zoom"):
            known = [row[reference] for row in rows if reference in row]
            ratios = [one["ratio"] for one in known]
            summary.setdefault(method, {})[reference] = {
                "windows": len(known),
                "largest_angle_deg": max(one["angle_deg"] for one in known),
                "ratios": [min(ratios), max(ratios)],
            }
    return summary


def show(disk, windows):
    """Print tables to stderr."""
    print_table(
        "Disk: RMSE (bias) against the gyroscope, deg/s",
        ["method", *(f"{ms} ms, {disk[ms]['auto']['windows']} windows" for ms in disk)],
        [
            [
                name,
                *(f"{disk[ms][name]['rmse']:.2f} ({disk[ms][name]['bias']:+.2f})" for ms in disk),
            ]
            for name in METHODS
        ],
    )
    for reference in ("plain_fit", "motion_txt", "motion_txt, with its zoom"):
        known = {k: row for k, row in windows.items() if reference in row["auto"]}
        print_table(
            f"Angle in degrees and ratio of norms, against {reference}",
            ["window", *METHODS],
            [
                [
                    name,
                    *(
                        f"{row[m][reference]['angle_deg']:.1f} {row[m][reference]['ratio']:.3f}"
                        for m in METHODS
                    ),
                ]
                for name, row in known.items()
            ],
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of real recordings")
    parser.add_argument("--windows-ms", type=int, nargs="+", default=WINDOWS_MS)
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # recordings without resolution or calibration
    start = time.perf_counter()
    recording = Disk.of(options.data)
    disk = {
        ms: {method: disk_errors(recording, method, ms) for method in METHODS}
        for ms in options.windows_ms
    }
    windows = {name: window_agreement(options.data, name) for name in ECD_ROTATIONS}
    show(disk, windows)
    results = {
        "disk_deg_s_by_window_ms": disk,
        "summary_of_windows": window_summary(windows),
        "windows": windows,
    }
    seconds = round(time.perf_counter() - start)
    report("rotation", results, windows_ms=list(options.windows_ms), seconds=seconds)


if __name__ == "__main__":
    main()
