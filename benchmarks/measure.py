"""Helpers of all benchmarks: interleaved timing, machine and versions, synthetic events."""

import json
import os
import platform
import statistics
import sys
import time
from importlib import metadata
from pathlib import Path

import numpy as np

import evcrisp

PEERS = ("numpy", "numba", "lz4", "aedat", "dv-processing", "eventcv", "torch")


def interleaved(cases, repeats=5, warm_up=1):
    """Time the callables of a dict in turns; return a list of seconds per case.

    Turns keep ratios valid on a shared machine.
    """
    seconds = {name: [] for name in cases}
    for turn in range(warm_up + repeats):
        for name, call in cases.items():
            start = time.perf_counter()
            call()
            if turn >= warm_up:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def rates(seconds, n_events):
    """Return median, lowest and highest million events per second of each case."""
    return {
        name: {
            "median_mev_s": n_events / statistics.median(times) / 1e6,
            "low_mev_s": n_events / max(times) / 1e6,
            "high_mev_s": n_events / min(times) / 1e6,
        }
        for name, times in seconds.items()
    }


def facts():
    """Return versions and type of machine."""
    versions = {}
    for package in PEERS:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return {
        "evcrisp": evcrisp.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "versions": versions,
    }


def report(name, results, **settings):
    """Print one JSON object."""
    print(_as_json(name, results, settings))


def write_report(path, name, results, **settings):
    """Write the JSON object of a benchmark to a file."""
    Path(path).write_text(_as_json(name, results, settings) + "\n", encoding="utf-8")


def _as_json(name, results, settings):
    content = {"benchmark": name, "settings": settings, "results": results, **facts()}
    return json.dumps(content, indent=2)


def print_table(title, header, rows):
    """Print a table of strings to stderr, apart from the JSON."""
    lines = [list(header), *(list(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    print(f"\n{title}", file=sys.stderr)
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print("  ".join(cells).rstrip(), file=sys.stderr)


def edge_events(n, resolution=(346, 260), rate_hz=1_000_000, noise_share=0.25, seed=0):
    """Return events of moving edges plus uniform noise, at a constant mean rate."""
    rng = np.random.default_rng(seed)
    width, height = resolution
    t = np.cumsum(rng.exponential(1e6 / rate_hz, n)).astype(np.int64)
    edge = rng.integers(0, 12, n)
    along = rng.random(n) * height
    position = (edge * width / 12 + 200.0 * t / 1e6 + 0.3 * along + rng.normal(0, 0.7, n)) % width
    noise = rng.random(n) < noise_share
    x = np.where(noise, rng.integers(0, width, n), position.astype(np.int64) % width)
    y = np.where(noise, rng.integers(0, height, n), along.astype(np.int64))
    p = np.where(noise, rng.integers(0, 2, n), edge % 2)
    return evcrisp.Events(x=x, y=y, t=t, p=p, resolution=resolution)
