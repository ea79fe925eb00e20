"""Speed of method `auto` with a given motion on a GPU, and of its parts. Prints JSON.

Command: ``python -m benchmarks.speed.gpu``, less than 10 minutes on one GPU; numba is not needed.
``--device torch-cpu --windows 2 --events 2000 --repeats 1`` tries the program without a GPU: its times
say nothing about one.

Compared: all windows of a batch, generated on the device: edges in translation and uniform noise, new
events for every repeat. Medians after a warm-up, by events of the device.

resident    events are on the device
pinned      events come from pinned memory of the host, 9 bytes each; the copy is part of the time
found       motions are found (`motion="auto"`): windows with one motion, and with three; events come from the
            host, and estimates go back there. With numba; layers are searched by the cores of the machine
parts       votes of both polarities, slopes and pull-back, sum of squares, sort by source

others      with numba: one core of this machine by the compiled kernels, and the joint problem of the paper by
            1000 steps of Adam in torch on the device, a window at a time, from the motion that was found

Variants: CUDA kernels (``kernels``), with sums in fixed point (``deterministic``), and torch operations alone
(``operations``).

Floor: of each part, the larger of two times: the bytes that it must move at the rate of a large copy, and
its additions at the rate of additions at random places. Floors of this machine are measured first.
"""

import argparse
import os
import statistics
import sys
import time
from importlib.util import find_spec

import numpy as np
from benchmarks.measure import print_table, report

from evcrisp.core.events import Events
from evcrisp.core.windows import Window
from evcrisp.estimators.auto.on_device.auto_batch import AutoBatch, DeviceOptions
from evcrisp.estimators.auto.on_device.sources import SourceGrid, SourceOrder
from evcrisp.estimators.auto.on_device.window_batch import Columns, WindowBatch
from evcrisp.motion.registry import MOTION_MODELS
from evcrisp.tensors import spline
from evcrisp.tensors.cuda.kernels import cuda_kernels, made_by
from evcrisp.tensors.devices import torch_device
from evcrisp.tensors.lazy import torch
from evcrisp.tensors.maps import MapLayout
from evcrisp.tensors.rows import Rows
from evcrisp.tensors.scatter import Scatter

LENGTH_US = 30_000
NOISE_SHARE = 0.25

#: Name, motion, share of the windows, factor of the events, and size of the sensor.
CASES = (
    ("translation", "translation", 1.0, 1, (346, 260)),
    ("rotation", "rotation", 1.0, 1, (346, 260)),
    ("translation, 1280x720", "translation", 0.1, 10, (1280, 720)),
)
VARIANTS = {
    "kernels": {}, "deterministic": {"deterministic": True}, "operations": {},
}  # fmt: skip


class Clock:
    """Times calls by events of a GPU; by the host clock without one."""

    def __init__(self, device):
        self.is_gpu = device.type == "cuda"

    def seconds(self, call):
        """Return the time of a call, s."""
        if not self.is_gpu:
            began = time.perf_counter()
            call()
            return time.perf_counter() - began
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        call()
        last.record()
        torch.cuda.synchronize()
        return first.elapsed_time(last) / 1000.0

    def median(self, calls):
        """Return the median time of calls after the first one, s."""
        times = [self.seconds(call) for call in calls]
        return statistics.median(times[1:] or times)


def generated(n_windows, n_events, size, device, seed):
    """Return columns of windows of moving edges and noise, on a device."""
    generator = torch.Generator(device=device).manual_seed(seed)
    shape = n_windows, n_events
    width, height = size

    def uniform(*sizes):
        return torch.rand(sizes, generator=generator, device=device)

    tau = ((uniform(*shape).sort(1).values - 0.5) * LENGTH_US).clamp(max=0.5 * LENGTH_US - 1.0)
    velocity = (uniform(n_windows, 1, 2) - 0.5) * 800.0  # px/s
    n_edges = width // 24
    edge = (uniform(*shape) * n_edges).floor()
    along, tilt = uniform(*shape) * height, uniform(n_windows, 1) - 0.5
    wave = 6.0 * torch.sin(0.12 * along + edge)  # edges of all directions
    x = 24.0 * edge + tilt * along + wave + velocity[..., 0] * tau / 1e6
    y = along + velocity[..., 1] * tau / 1e6
    noise = uniform(*shape) < NOISE_SHARE
    x = torch.where(noise, uniform(*shape) * width, x % width).floor().clamp(0, width - 1)
    y = torch.where(noise, uniform(*shape) * height, y % height).floor().clamp(0, height - 1)
    p = torch.where(noise, uniform(*shape) < 0.5, edge % 2 == 0)
    kinds = torch.int16, torch.int16, torch.int32, torch.uint8
    columns = zip((x, y, tau.round(), p), kinds, strict=True)
    return Columns(*(column.reshape(-1).to(kind) for column, kind in columns))


def batch_of(columns, n_windows, motion, size):
    """Return a batch of windows of equal length."""
    device = columns.x.device
    rows = Rows.of_lengths([columns.x.numel() // n_windows] * n_windows, device)
    seconds = torch.full((n_windows,), LENGTH_US / 1e6, dtype=torch.float64, device=device)
    model = MOTION_MODELS[motion].for_sensor(size)
    return WindowBatch.of_columns(rows, columns, seconds, model, size)


def moved(columns, device):
    """Return columns of pinned memory on a device."""
    return Columns(*(column.to(device, non_blocking=True) for column in columns))


def measured(case, options, device, clock, variant):
    """Return the rates of a case, resident and with copies."""
    _, motion, share, factor, size = case
    n_windows = max(int(share * options.windows), 1)
    n_events = factor * options.events
    method = AutoBatch(options=DeviceOptions(w_maps=False, **VARIANTS[variant]))
    sets = [
        generated(n_windows, n_events, size, device, seed) for seed in range(options.repeats + 1)
    ]
    n, rates = n_windows * n_events, {}
    labels = torch.empty(n, dtype=torch.bool, pin_memory=clock.is_gpu)

    def run(columns):
        with made_by(None if variant == "operations" else cuda_kernels):
            found = method.run(batch_of(columns, n_windows, motion, size))
        labels.copy_(found.labels.signal, non_blocking=True)  # one byte per event goes back

    rates["resident"] = clock.median([lambda c=c: run(c) for c in sets])
    pinned = [Columns(*(column.cpu() for column in columns)) for columns in sets]
    if clock.is_gpu:
        pinned = [Columns(*(column.pin_memory() for column in columns)) for columns in pinned]
    del sets
    rates["pinned"] = clock.median([lambda c=c: run(moved(c, device)) for c in pinned])
    peak = torch.cuda.max_memory_allocated() if clock.is_gpu else 0
    return {
        "windows": n_windows, "events_per_window": n_events,
        "bytes_per_event": peak / n if peak else None,
        **{name: {"s": s, "mev_s": n / s / 1e6} for name, s in rates.items()},
    }  # fmt: skip


def with_objects(columns, n_windows, size, seed):
    """Return columns in which events of two rectangles move otherwise than the rest."""
    generator = torch.Generator(device=columns.x.device).manual_seed(seed)
    width, height = size
    seconds = columns.tau.double() / 1e6
    x, y = (c.double().reshape(n_windows, -1) for c in (columns.x, columns.y))
    for left, top in ((0.1, 0.15), (0.55, 0.5)):
        inside = (x > left * width) & (x < (left + 0.35) * width)
        inside &= (y > top * height) & (y < (top + 0.35) * height)
        speed = 400.0 * torch.rand((n_windows, 1, 2), generator=generator, device=x.device) - 200.0
        dt = seconds.reshape(n_windows, -1)
        x = torch.where(inside, x + speed[..., 0] * dt, x)
        y = torch.where(inside, y + speed[..., 1] * dt, y)
    x, y = x.round().clamp(0, width - 1), y.round().clamp(0, height - 1)
    return columns._replace(x=x.reshape(-1).to(torch.int16), y=y.reshape(-1).to(torch.int16))


def with_found_motions(options, device):
    """Return the rates of windows whose motions are found, of one motion and of three; see `found`."""
    if find_spec("numba") is None:
        return {}
    from evcrisp.estimators.auto.auto import AutoRegret
    from evcrisp.estimators.devices import device_method
    from evcrisp.motion.open_motion import OpenMotion

    method = device_method(AutoRegret(), OpenMotion(), options.device)
    size, n, out = CASES[0][4], options.events, {}
    for name, n_windows in (
        ("one motion", options.windows),
        ("three motions", options.found_windows),
    ):
        times, layers = [], 0
        for seed in range(3):
            columns = generated(n_windows, n, size, device, seed)
            if name != "one motion":
                columns = with_objects(columns, n_windows, size, seed)
            windows = [window_of(columns, n, k, size) for k in range(n_windows)]
            began = time.perf_counter()
            found = method.estimate(windows)
            times.append(time.perf_counter() - began)
            layers = sum(len(result.layers) for result in found) / n_windows
        seconds = statistics.median(times[1:])
        out[name] = {
            "windows": n_windows, "layers": layers, "s": seconds,
            "mev_s": n * n_windows / seconds / 1e6, "cores": os.cpu_count(),
        }  # fmt: skip
    return out


def floors(device, clock, repeats, n):
    """Return bytes and additions per second of this device."""
    big = torch.rand(n, device=device)
    copy = torch.empty_like(big)
    moved_s = clock.median([lambda: copy.copy_(big)] * (repeats + 1))
    index = torch.randint(0, n, (n,), device=device)
    added_s = clock.median([lambda: copy.index_add_(0, index, big)] * (repeats + 1))
    return {"bytes_s": 8.0 * n / moved_s, "additions_s": n / added_s}


def parts(options, device, clock, rates):
    """Return times of parts of the method, and their floors."""
    size, n_windows = CASES[0][4], options.windows
    columns = generated(n_windows, options.events, size, device, 0)
    batch = batch_of(columns, n_windows, "translation", size)
    rows, n = batch.rows, batch.rows.size
    layout = MapLayout.of(batch.width + 6, batch.height + 6, planes=2)
    start = rows.spread(layout.starts) + batch.p * rows.spread(layout.width * layout.height)
    u, v = (c.to(torch.float64) + 3.3 for c in (batch.x, batch.y))
    sides = rows.spread(layout.width), rows.spread(layout.height), start
    places = spline.locate(u, v, *sides, torch.float32)
    image = spline.accumulate(places, layout.size, Scatter())
    grid = SourceGrid.of(batch.width, batch.height)
    source, t = grid.of_pixels(rows.row, batch.x, batch.y, batch.p), batch.points.dt.float()
    n_pixels, place_bytes = layout.size, 8 + 8 + 4 + 4 + 1
    calls = {
        "votes": (lambda: spline.accumulate(places, n_pixels, Scatter()), place_bytes * n + 4 * n_pixels, 9 * n),
        "votes, fixed point": (lambda: spline.accumulate(places, n_pixels, Scatter(True)), place_bytes * n + 12 * n_pixels, 9 * n),
        "support": (lambda: spline.sample(image, places), (place_bytes + 4) * n + 4 * n_pixels, 0),
        "sum of squares": (lambda: layout.pixels(2).sum(image * image), 4 * n_pixels, 0),
        "sort by source": (lambda: SourceOrder.of(source, t, grid.size), 2 * 8 * n, 0),
    }  # fmt: skip
    out = {}
    for name, (call, n_bytes, n_additions) in calls.items():
        seconds = clock.median([call] * (options.repeats + 1))
        floor = max(n_bytes / rates["bytes_s"], n_additions / rates["additions_s"])
        limit = "additions" if n_additions / rates["additions_s"] == floor else "bytes"
        out[name] = {
            "s": seconds, "floor_s": floor, "of_floor": floor / seconds, "limit": limit,
            "mev_s": n / seconds / 1e6,
        }  # fmt: skip
    return out


def window_of(columns, n_events, number, size):
    """Return a window of columns for the compiled kernels."""
    part = slice(number * n_events, (number + 1) * n_events)
    x, y, tau, p = (column[part].cpu().numpy() for column in columns)
    t = tau.astype(np.int64) + LENGTH_US // 2
    events = Events(x=x.astype(int), y=y.astype(int), t=t, p=p > 0, resolution=size)
    return Window(events, 0, LENGTH_US)


def others(options, device, rate):
    """Return the rates of one core and of Adam in torch, and how many times ``rate`` is as high."""
    if find_spec("numba") is None:
        return {}
    from benchmarks import torch_joint

    from evcrisp.estimators.auto.auto import AutoRegret
    from evcrisp.estimators.joint.exact import ExactRegret
    from evcrisp.estimators.joint.problem import JointProblem
    from evcrisp.search.window_data import WindowData

    size, n = CASES[0][4], options.events
    columns = generated(options.core_windows, n, size, device, 0)
    windows = [window_of(columns, n, k, size) for k in range(options.core_windows)]
    model = MOTION_MODELS["translation"].for_sensor(size)
    method, times = AutoRegret(), []
    for window in (windows[0], *windows):
        began = time.process_time()
        found = method.run(window, model)
        times.append(time.process_time() - began)
    core = n / statistics.median(times[1:])
    problem = JointProblem.from_data(WindowData.of(windows[-1], model), ExactRegret())
    torch_joint.minimize(problem, found.theta, 20, device=device)
    adam = n / torch_joint.minimize(problem, found.theta, options.steps, device=device)[2]
    return {
        "one_core_mev_s": core / 1e6, "times_one_core": rate / core,
        "adam_mev_s": adam / 1e6, "times_adam": rate / adam, "steps": options.steps,
    }  # fmt: skip


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--windows", type=int, default=1000)
    parser.add_argument("--events", type=int, default=30_000, help="of a window")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--variants", nargs="*", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--cases", nargs="*", default=[case[0] for case in CASES])
    parser.add_argument("--found-windows", type=int, default=64, help="with three motions")
    parser.add_argument("--core-windows", type=int, default=12, help="of one core")
    parser.add_argument("--steps", type=int, default=1000, help="of Adam")
    parser.add_argument("--budget-s", type=float, default=480.0, help="no case starts after this")
    options = parser.parse_args(arguments)
    device = torch_device(options.device)
    if device is None:
        parser.error("the device must be cuda or torch-cpu")
    clock, began = Clock(device), time.monotonic()
    rates = floors(device, clock, options.repeats, min(options.windows * options.events * 4, 2**28))
    results = {"floors": rates, "parts": parts(options, device, clock, rates), "auto": {}}
    skipped = []
    for case in (case for case in CASES if case[0] in options.cases):
        for variant in options.variants:
            name = f"{case[0]}, {variant}"
            if time.monotonic() - began > options.budget_s:
                skipped.append(name)
                continue
            try:
                results["auto"][name] = measured(case, options, device, clock, variant)
            except torch.OutOfMemoryError as error:
                results["auto"][name] = {"error": str(error).splitlines()[0]}
            print(name, results["auto"][name], file=sys.stderr, flush=True)  # a late stop keeps it
            if clock.is_gpu:
                torch.cuda.empty_cache()
                torch.cuda.reset_peak_memory_stats()
    results["skipped"] = skipped
    if time.monotonic() - began < options.budget_s:
        results["found"] = with_found_motions(options, device)
    else:
        skipped.append("found")
    first = results["auto"].get(f"{CASES[0][0]}, {options.variants[0]}", {})
    if "resident" in first:
        results["others"] = others(options, device, 1e6 * first["resident"]["mev_s"])
    print_table(
        "Parts", ("part", "ms", "floor, ms", "limit"),
        [(name, f"{1e3 * row['s']:.3f}", f"{1e3 * row['floor_s']:.3f}", row["limit"]) for name, row in results["parts"].items()],
    )  # fmt: skip
    print_table(
        "auto, million events per second", ("case", "resident", "pinned"),
        [(name, *(f"{row[kind]['mev_s']:.2f}" for kind in ("resident", "pinned"))) for name, row in results["auto"].items() if "error" not in row],
    )  # fmt: skip
    print_table(
        "Motions are found", ("windows", "layers", "million events per second"),
        [(k, f"{row['layers']:.2f}", f"{row['mev_s']:.3g}") for k, row in results.get("found", {}).items()],
    )  # fmt: skip
    print_table(
        "Others",
        ("figure", "value"),
        [(k, f"{v:.4g}") for k, v in results.get("others", {}).items()],
    )
    machine = torch.cuda.get_device_name(device) if clock.is_gpu else "CPU"
    report(
        "speed.gpu",
        results,
        device=options.device,
        machine=machine,
        windows=options.windows,
        events=options.events,
    )


if __name__ == "__main__":
    main()
