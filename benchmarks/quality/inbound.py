"""Part `inbound` of `benchmarks.quality.many_motions`: vehicles seen from above, with true boxes.

The recording is `inbound` of REMOT: a camera at rest, seven vehicles, frames of 40 ms with boxes that
were drawn by hand. Frames from the second to the last complete one are the windows.

motion   against the slope of the centers of a vehicle's boxes over up to four frames on both sides
         (at least five in all), for the events in exactly one box, whatever their labels. Where one
         of these boxes touches the border of the sensor its center is wrong; figures without and
         with such boxes.
labels   AUC with added uniform noise, mean over the windows after 60 ms: positives are events in
         true boxes, negatives are added events. Filters have seen the recording before.
boxes    HOTA of the boxes of all layers in a stream, as found: also boxes as large as the view.
         Figures of boxes that cover less than half of the view are given beside it.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.measure import print_table
from benchmarks.quality.filters import with_uniform_noise
from benchmarks.quality.label_measures import digest
from benchmarks.quality.targets import Target, show_targets

import evcrisp
from evcrisp.core.windows import Window
from evcrisp.filters import denoise
from evcrisp.metrics import hota, rank_auc

RESOLUTION = (346, 260)
FRAME_US = 40_000
FRAME_S = 1e-6 * FRAME_US
FILTERS = ("ebf", "stcf")
ADDED_HZ = (2.0, 10.0)
TARGET_AUC = {2.0: 0.985, 10.0: 0.975}

_HISTORY_FRAMES = 2  # at least 60 ms
_SLOPE_FRAMES, _LEAST_FRAMES = 4, 5


@dataclass(frozen=True, slots=True, eq=False)
class Vehicle:
    """Box of a vehicle in one frame, and its displacement over the frame."""

    id: int
    box: np.ndarray  # (4,) left, top, width, height, px
    shift_px: np.ndarray | None  # (2,) over a frame; None if too few boxes are known
    is_cut: bool  # a box of the slope touches the border


@dataclass(frozen=True, slots=True, eq=False)
class Inbound:
    """Events from the second frame on, and the vehicles of every frame."""

    events: evcrisp.Events
    frames: list[list[Vehicle]]  # frame k starts k times 40 ms after the first event

    @classmethod
    def of(cls, data_dir):
        """Read the recording and its boxes."""
        from scipy.io import loadmat

        folder = Path(data_dir, "remot")
        table = loadmat(folder / "inbound.mat")["events"]
        truth = loadmat(folder / "inboundGT.mat")
        number = table[:, 4]
        complete = (number > number[0]) & (number < number[-1])
        x, y, p, t = (np.ascontiguousarray(column) for column in table[complete, :4].T)
        events = evcrisp.Events(x=x, y=y, t=t, p=p > 0, resolution=RESOLUTION)
        boxes = [np.reshape(one, (-1, 4)).astype(float) for one in truth["gtBoxes"].ravel()]
        ids = [np.ravel(one).astype(int) for one in truth["gtIDs"].ravel()]
        # Counted from 0: counted from 1, fewer events of the vehicles are in their boxes.
        frames = [vehicles_of(boxes, ids, f) for f in np.unique(number[complete])]
        return cls(events, frames)

    def windows(self, events):
        """Yield the window of every frame of these events, with its vehicles."""
        starts = int(self.events.t[0]) + FRAME_US * np.arange(len(self.frames) + 1)
        edges = np.searchsorted(events.t, starts)
        for k, vehicles in enumerate(self.frames):
            part = events[edges[k] : edges[k + 1]]
            yield Window(part, int(starts[k]), int(starts[k + 1]), int(edges[k])), vehicles


def vehicles_of(boxes, ids, frame):
    """Return the vehicles of a frame."""
    vehicles = []
    for own, number in zip(boxes[frame], ids[frame], strict=True):
        near = range(max(frame - _SLOPE_FRAMES, 0), min(frame + _SLOPE_FRAMES + 1, len(boxes)))
        seen = [g for g in near if number in ids[g]]
        track = np.array([boxes[g][list(ids[g]).index(number)] for g in seen])
        is_cut = bool(
            (track[:, :2] <= 1.0).any() or (track[:, :2] + track[:, 2:] >= RESOLUTION).any()
        )
        shift_px = None
        if len(seen) >= _LEAST_FRAMES:
            shift_px = np.polyfit(seen, track[:, :2] + 0.5 * track[:, 2:], 1)[0]
        vehicles.append(Vehicle(int(number), own, shift_px, is_cut))
    return vehicles


def inside(events, vehicles):
    """Return which events are in the box of which vehicle, shape (n_vehicles, n)."""
    flags = np.zeros((len(vehicles), len(events)), bool)
    for row, vehicle in zip(flags, vehicles, strict=True):
        left, top, width, height = vehicle.box
        row[:] = (events.x >= left) & (events.x < left + width)
        row &= (events.y >= top) & (events.y < top + height)
    return flags


def measure(data_dir, only=None, repeats=1):
    """Return motion, labels and boxes, with targets; print tables."""
    if not Path(data_dir, "remot", "inbound.mat").is_file():
        print("inbound: left out, no `remot/inbound.mat` in the data", file=sys.stderr)
        return {}
    scene = Inbound.of(data_dir)
    streamed = list(_stream(scene))
    motion = {
        "auto": motion_errors(
            scene, [evcrisp.estimate(window) for window, _ in scene.windows(scene.events)]
        ),
        "auto, tracked": motion_errors(scene, streamed),
        "auto, one motion": motion_errors(
            scene,
            [evcrisp.estimate(w, motion="translation") for w, _ in scene.windows(scene.events)],
        ),
    }
    labels = {noise_hz: label_auc(scene, noise_hz) for noise_hz in ADDED_HZ}
    tracker = evcrisp.ObjectTracker()
    boxes = {
        "objects": box_scores(scene, [tracker.update(result) for result in streamed]),
        "layers": box_scores(scene, [[x for x in result.layers if len(x)] for result in streamed]),
    }
    repeated = [digest(result) for result in _stream(scene)]
    is_repeatable = repeated == [digest(result) for result in streamed]
    targets = _targets(motion, labels, boxes, is_repeatable)
    _show(motion, labels, boxes)
    show_targets("Targets of inbound", targets)
    return {
        "motion": motion,
        "auc_by_added_hz": labels,
        "boxes": boxes,
        "targets": [target.as_dict() for target in targets],
    }


def _stream(scene):
    """Return the estimates of all frames in a stream."""
    results = evcrisp.track(scene.events, windowing=evcrisp.Windowing(window_us=FRAME_US))
    return [result for result, _ in zip(results, scene.frames, strict=False)]


def motion_errors(scene, results):
    """Return the errors of the vehicles' motion, px over a frame, and a row per vehicle."""
    errors, rows = {False: [], True: []}, []
    for (window, vehicles), result in zip(scene.windows(scene.events), results, strict=True):
        # In a stream, windows start with the first event of the frame: at most 13 us apart.
        velocity, events = result.velocity, result.window.events
        flags = inside(events, vehicles)
        alone = flags.sum(axis=0) == 1
        for vehicle, flag in zip(vehicles, flags, strict=True):
            chosen = flag & alone
            if vehicle.shift_px is None or not chosen.any():
                continue
            found = FRAME_S * np.nan_to_num(velocity[chosen])
            error = np.hypot(*(found - vehicle.shift_px).T)
            errors[vehicle.is_cut].append(error)
            rows.append(
                {
                    "t_start_us": window.t_start,
                    "id": vehicle.id,
                    "is_cut": vehicle.is_cut,
                    "events": int(chosen.sum()),
                    "true_px": vehicle.shift_px.tolist(),
                    "found_px": np.median(found, axis=0).tolist(),
                    "median_error_px": float(np.median(error)),
                }
            )
    whole = np.concatenate(errors[False])
    every = np.concatenate([whole, *errors[True]])
    return {
        "without_cut_boxes": _shares(whole),
        "with_cut_boxes": _shares(every),
        "layers": float(np.mean([len(result.layers) for result in results])),
        "vehicles": rows,
    }


def _shares(errors):
    return {
        "events": int(errors.size),
        "median_px": float(np.median(errors)),
        "mean_px": float(errors.mean()),
        "within_1_px": float((errors < 1.0).mean()),
    }


def label_auc(scene, noise_hz):
    """Return the mean AUC of every method with added noise."""
    noisy, original = with_uniform_noise(scene.events, noise_hz, seed=0)
    windows = list(scene.windows(noisy))
    tracked = evcrisp.track(noisy, windowing=evcrisp.Windowing(window_us=FRAME_US))
    scores = {
        "auto": [evcrisp.estimate(window).score for window, _ in windows],
        "auto, tracked": _by_window(np.concatenate([result.score for result in tracked]), windows),
        "auto, one motion": [
            evcrisp.estimate(window, motion="translation").score for window, _ in windows
        ],
    }
    scores |= {name: _by_window(denoise(noisy, name).score, windows) for name in FILTERS}
    return {
        method: float(
            np.mean(
                [
                    _auc_in_boxes(score, original, window, vehicles)
                    for score, (window, vehicles) in list(zip(found, windows, strict=True))[
                        _HISTORY_FRAMES:
                    ]
                ]
            )
        )
        for method, found in scores.items()
    }


def _by_window(score, windows):
    return [score[w.index : w.index + len(w.events)] for w, _ in windows]


def _auc_in_boxes(score, original, window, vehicles):
    """Return the AUC of original events in boxes against added events."""
    own = original[window.index : window.index + len(window.events)]
    positive = own & inside(window.events, vehicles).any(axis=0)
    chosen = positive | ~own
    return float(rank_auc(score[chosen], positive[chosen]))


def box_scores(scene, frames):
    """Return HOTA and its parts of the objects or layers of each frame."""
    score = hota(
        true_boxes=[[_corners(vehicle.box) for vehicle in frame] for frame in scene.frames],
        true_ids=[[vehicle.id for vehicle in frame] for frame in scene.frames],
        found_boxes=[[_corners(thing.box) for thing in frame] for frame in frames],
        found_ids=[[thing.id for thing in frame] for frame in frames],
    )
    return {key: getattr(score, key) for key in ("hota", "deta", "assa", "loca")} | {
        "true_boxes": score.n_true,
        "found_boxes": score.n_found,
        "found_tracks": len({thing.id for frame in frames for thing in frame}),
    }


def _corners(box):
    left, top, width, height = box
    return left, top, left + width, top + height


def _targets(motion, labels, boxes, is_repeatable):
    whole = motion["auto"]["without_cut_boxes"]
    targets = [
        Target(name="median motion error, px", value=whole["median_px"], most=0.8),
        Target(name="share within 1 px", value=whole["within_1_px"], least=0.5),
    ]
    for noise_hz, row in labels.items():
        name = f"AUC + {noise_hz:g} Hz/px"
        targets.append(Target(name=name, value=row["auto"], least=TARGET_AUC[noise_hz]))
        gain = row["auto"] - row["ebf"]
        targets.append(Target(name=f"{name}, above ebf", value=gain, least=0.0))
    return [
        *targets,
        Target(name="HOTA of the objects", value=boxes["objects"]["hota"], least=0.543),
        Target(name="two runs are bit-identical", value=float(is_repeatable), least=1.0),
    ]


def _show(motion, labels, boxes):
    head = ["", "median, px", "mean, px", "within 1 px", "with cut boxes", "layers"]
    rows = [
        [
            method,
            f"{row['without_cut_boxes']['median_px']:.3f}",
            f"{row['without_cut_boxes']['mean_px']:.3f}",
            f"{row['without_cut_boxes']['within_1_px']:.3f}",
            "{median_px:.3f} {within_1_px:.3f}".format(**row["with_cut_boxes"]),
            f"{row['layers']:.1f}",
        ]
        for method, row in motion.items()
    ]
    print_table("Inbound: motion of the vehicles over 40 ms", head, rows)
    head = ["added noise", *next(iter(labels.values()))]
    rows = [
        [f"{noise_hz:g} Hz/px", *(f"{auc:.4f}" for auc in row.values())]
        for noise_hz, row in labels.items()
    ]
    print_table("Inbound: AUC of events in boxes against added noise", head, rows)
    rows = [
        [
            name,
            *(f"{value:.3f}" if isinstance(value, float) else str(value) for value in row.values()),
        ]
        for name, row in boxes.items()
    ]
    print_table("Inbound: boxes over time", ["boxes of", *next(iter(boxes.values()))], rows)
