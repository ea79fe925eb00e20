"""Random scenes: their settings, and what is measured."""

import numpy as np
import pytest
from benchmarks.quality import random_scenes

import evcrisp


def test_the_scene_of_a_number_never_changes():
    first, second = (random_scenes.settings_of(7) for _ in range(2))
    assert first == second
    assert random_scenes.settings_of(8) != first


def test_scenes_have_a_motion_and_valid_settings():
    cameras, counts = set(), set()
    for number in range(40):
        settings, length_us = random_scenes.settings_of(number)
        moves = any(settings["theta"])
        assert moves or settings["objects"]
        assert length_us in (10_000, 20_000, 30_000, 50_000)
        cameras.add((settings.get("motion", "translation"), moves))
        counts.add(len(settings["objects"]))
    assert cameras == {
        ("translation", False), ("translation", True), ("similarity", True), ("rotation", True)
    }  # fmt: skip
    assert counts == {0, 1, 2, 3}


def test_measures_of_a_scene():
    row = random_scenes.measure(42)
    found = row["methods"]["auto"]
    assert set(row["methods"]) == {"auto", *random_scenes.FILTERS}
    assert 0.5 < found["auc"] <= 1.0
    assert found["n_trusted_and_wrong"] <= found["n_trusted"] <= row["n_events"]
    summary = random_scenes.summary_of([row])
    assert summary["auto"]["auc"] == found["auc"]
    share = summary["trusted events that are wrong, mean over scenes with any"]
    assert share == pytest.approx(found["n_trusted_and_wrong"] / found["n_trusted"])


def test_unreliable_results_have_no_trusted_events(monkeypatch):
    estimate = evcrisp.estimate
    doubted = []

    def without_reliance(window):
        result = estimate(window)
        doubted.append(evcrisp.Doubt.CHANCE)
        object.__setattr__(result, "doubts", (evcrisp.Doubt.CHANCE,))
        return result

    monkeypatch.setattr(random_scenes.evcrisp, "estimate", without_reliance)
    row = random_scenes.measure(42)
    assert doubted
    assert row["methods"]["auto"]["n_trusted"] == 0
    assert np.isfinite(row["methods"]["auto"]["error_px"])
