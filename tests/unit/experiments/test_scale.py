"""Cost of large data sets: laws of the estimate, throughput and overhead."""

import pytest

from evcrisp.experiments.methods import RAW
from evcrisp.experiments.scale import LOADS, MACHINES, Load, cost_lines, hours, throughput_hz
from evcrisp.experiments.task_runner import overhead
from evcrisp.pipeline.many.executors import InProcess


def test_time_falls_until_every_recording_has_a_core():
    load = Load(name="", n_recordings=100, duration_s=1000.0, rate_hz=1e6)
    alone = hours(load, 1e6, 1, cores=1, task_s=0.0)
    assert alone == pytest.approx(1000 / 3600)
    assert hours(load, 1e6, 10, cores=1, task_s=0.0) == pytest.approx(alone / 10)
    assert hours(load, 1e6, 100, cores=1, task_s=0.0) == hours(load, 1e6, 1000, cores=1, task_s=0.0)
    assert hours(load, 2e6, 1, cores=1, task_s=0.0) == pytest.approx(alone / 2)


def test_time_includes_overhead_per_task():
    load = Load(name="", n_recordings=100, duration_s=1000.0, rate_hz=1e6)
    more = hours(load, 1e6, 1, cores=1, task_s=0.5) - hours(load, 1e6, 1, cores=1, task_s=0.0)
    assert more == pytest.approx(50 / 3600)


def test_cost_table_has_line_per_load_and_method():
    lines = list(cost_lines([(RAW, 1e6), (RAW, 2e6)]))
    assert len(lines) == 2 + 2 * len(LOADS)
    assert all(line.count("|") == 4 + len(MACHINES) for line in lines)


def test_throughput_is_positive():
    assert throughput_hz(RAW, n_events=5000, repeats=1) > 1e4


def test_overhead_is_positive():
    assert overhead(InProcess(), 1, pause_s=0.05, rounds=2) > 0.0
