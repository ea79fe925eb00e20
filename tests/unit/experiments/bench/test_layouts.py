"""Layouts of public data sets: what is found, and events and truth of a sample."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, FormatError
from evcrisp.experiments.datasets import DATASETS, dataset_for
from evcrisp.experiments.datasets.detection import find_datasets
from evcrisp.experiments.datasets.sample import Limits, read_sample

_spec = importlib.util.spec_from_file_location("layouts", Path(__file__).with_name("layouts.py"))
layouts = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(layouts)

ALL = Limits()


@pytest.fixture
def stand_in(tmp_path):
    """Return a function that writes a stand-in, and returns its folder, scene and layout."""

    def make(name):
        truth = layouts.WRITERS[name](tmp_path)
        return tmp_path, truth, dataset_for(name).layout(tmp_path)

    return make


@pytest.mark.parametrize("name", layouts.WRITERS)
def test_layout_is_found_without_its_name(stand_in, name):
    root, _, layout = stand_in(name)
    (found, *rest) = find_datasets(root)
    assert found.dataset.name == name
    assert len(found.clips) == len(layout.clips)
    assert not any(part.clips for part in rest)
    assert all(file.is_file() for clip in found.clips for file in clip.files)


def test_sub_folders_are_searched_and_the_rest_are_own_recordings(tmp_path):
    layouts.write_ed24(tmp_path / "ED24")
    layouts.write_led(tmp_path / "LED")
    layouts.write_own(tmp_path / "mine")
    found = {part.dataset.name: len(part.clips) for part in find_datasets(tmp_path)}
    assert found == {"ed24": 2, "led": 1, "recordings": 2}


@pytest.mark.parametrize("name", [name for name in DATASETS if name != "recordings"])
def test_empty_folder_states_the_problem(tmp_path, name):
    layout = dataset_for(name).layout(tmp_path)
    assert layout.clips == ()
    assert layout.problems
    with pytest.raises(ConfigError, match="has no recording that can be read"):
        find_datasets(tmp_path, name)


def test_folder_without_recordings_raises(tmp_path):
    with pytest.raises(ConfigError, match="it is empty"):
        find_datasets(tmp_path)
    with pytest.raises(ConfigError, match="is not a folder"):
        find_datasets(tmp_path / "no")


def test_ed24_labels_are_those_of_the_file(stand_in):
    _, events, layout = stand_in("ed24")
    assert [clip.group for clip in layout.clips] == [("ED24", "1.8 V"), ("ED24", "2.5 V")]
    sample = read_sample(layout.clips[1], ALL)
    assert sample.events.equals(events)
    np.testing.assert_array_equal(sample.events.signal, events.signal)
    assert len(read_sample(layout.clips[0], Limits(max_events=100)).events) == 100
    layout.clips[0].path.write_text("1 2 3 4\n")
    with pytest.raises(FormatError, match="five numbers: t x y p label"):
        read_sample(layout.clips[0], ALL)


def test_led_merges_signal_and_noise(stand_in):
    root, events, layout = stand_in("led")
    sample = read_sample(layout.clips[0], ALL)
    t0 = int(events.t[0])
    assert len(sample.events) == len(events.between(t0, t0 + 30_000))
    assert sample.events.signal.sum() == events.between(t0, t0 + 30_000).signal.sum()
    assert len(read_sample(layout.clips[0], Limits(max_us=10_000)).events) == len(
        events.between(t0, t0 + 10_000)
    )
    np.save(root / "noise_events" / "scene_100" / "00031.npy", np.zeros((3, 4)))
    with pytest.raises(FormatError, match=r"shape \(4, n\); got \(3, 4\)"):
        read_sample(layout.clips[0], ALL)


def test_dvsclean_label_0_is_signal(stand_in):
    _, events, layout = stand_in("dvsclean")
    assert [clip.group[1] for clip in layout.clips] == ["100 % noise", "50 % noise", "real"]
    sample = read_sample(layout.clips[0], ALL)
    np.testing.assert_array_equal(sample.events.signal, events.signal)
    np.testing.assert_array_equal(sample.events.p, events.p)
    assert read_sample(layout.clips[2], ALL).events.signal is None


def test_remot_boxes_follow_the_object(stand_in):
    _, scene, layout = stand_in("remot")
    sample = read_sample(layout.clips[0], ALL)
    assert len(sample.boxes) == 4  # the first and the last frame can be incomplete
    assert {frame.ids for frame in sample.boxes} == {(7,)}
    assert len(read_sample(layout.clips[0], Limits(max_us=90_000)).boxes) == 2
    frame = sample.boxes[1]
    part = scene.events.between(frame.t_start, frame.t_end)
    moving = part[part.signal]
    left, top, right, bottom = frame.boxes[0]
    inside = (moving.x >= left - 4) & (moving.x < right + 4)
    inside &= (moving.y >= top - 4) & (moving.y < bottom + 4)
    assert inside.mean() > 0.9


def test_dvsflow16_field_is_turned_to_image_rows(stand_in):
    _, scene, layout = stand_in("dvsflow16")
    assert [clip.reader is None for clip in layout.clips] == [True, False]
    sample = read_sample(layout.clips[1], Limits(max_us=1000))
    assert len(sample.flow) == 2
    assert sample.events.t[0] >= 500_000
    np.testing.assert_array_equal(sample.flow[0].velocity[10, 20], (12.0, 4.0))
    assert sample.events.equals(scene.events.between(500_000, 2_400_000).with_signal(None))


@pytest.mark.parametrize(("name", "n_frames"), [("mvsec", 3), ("dsec", 2)])
def test_displacements_become_velocities(stand_in, name, n_frames):
    _, scene, layout = stand_in(name)
    sample = read_sample(layout.clips[0], ALL)
    theta = {"mvsec": (200.0, -80.0), "dsec": (100.0, -40.0)}[name]
    assert len(sample.flow) == n_frames
    for frame in sample.flow:
        np.testing.assert_allclose(frame.velocity[200, 100], theta, rtol=1e-3)
    assert sample.events.t[0] >= sample.flow[0].t_start
    start = sample.flow[0].t_start
    assert len(sample.events) == np.count_nonzero(scene.events.t >= start)


@pytest.mark.parametrize("name", ["mvsec", "dsec", "remot"])
def test_at_least_one_frame_of_the_truth_is_read(stand_in, name):
    _, _, layout = stand_in(name)
    sample = read_sample(layout.clips[0], Limits(max_events=10, max_us=10))
    assert len(sample.flow or sample.boxes) == 1


def test_dsec_fields_are_read_at_rectified_places(stand_in):
    _, _, layout = stand_in("dsec")
    velocity = read_sample(layout.clips[0], ALL).flow[0].velocity
    known = np.isfinite(velocity).all(axis=2)
    # The map shifts pixels by 5 to the right and by 3 up.
    assert not known[:, 635:].any()
    assert not known[:3].any()
    assert known[3:, :635].all()


def test_own_recordings_have_folders_as_groups_and_labels(stand_in):
    root, scene, layout = stand_in("recordings")
    assert {clip.name: clip.group for clip in layout.clips} == {
        "lab/take.aedat4": ("lab",),
        "scene.npz": (root.name,),
    }
    samples = {clip.name: read_sample(clip, ALL).events for clip in layout.clips}
    np.testing.assert_array_equal(samples["scene.npz"].signal, scene.events.signal)
    assert samples["lab/take.aedat4"].signal is None
    (root / "lab" / "bad.aedat4").write_bytes(b"#!AER-DAT4.0\r\n" + b"x" * 50)
    again = dataset_for("recordings").layout(root)
    assert len(again.clips) == 2
    assert "bad.aedat4" in " ".join(again.problems)


def test_ecd_gyroscope_gives_the_field_of_a_rotation(ecd):
    clips = {clip.name: clip for clip in dataset_for("ecd").layout(ecd).clips}
    sample = read_sample(clips["boxes_rotation"], ALL)
    assert sample.flow
    (result,) = evcrisp.track(
        sample.events.between(sample.flow[0].t_start, sample.flow[0].t_end),
        motion="auto",
        windowing=evcrisp.Windowing(window_us=20_000),
    )
    events = result.window.events
    true = sample.flow[0].velocity[events.y, events.x]
    error = np.hypot(*(result.velocity - true)[result.signal].T)
    assert np.median(error) < 0.1 * np.median(np.hypot(*true.T))
    assert read_sample(clips["boxes_translation"], ALL).flow == ()
