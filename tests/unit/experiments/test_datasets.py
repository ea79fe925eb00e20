"""Layouts of data sets, missing parts, and added noise."""

import logging
import zipfile

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, EventDataError, Events
from evcrisp.experiments.datasets import DATASETS, find_clips
from evcrisp.experiments.datasets.dnd21 import noise_file, noise_files
from evcrisp.experiments.datasets.noise import with_recorded_noise, with_uniform_noise


def touch(root, *names):
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_emlb_groups_recordings_by_half_and_filter(tmp_path):
    touch(tmp_path, "D-END/nd00/Bicycle-ND00-1.aedat4", "N-END/nd64/Bicycle-ND64-2.aedat4")
    layout = DATASETS["emlb"].layout(tmp_path)
    assert [(clip.name, clip.group) for clip in layout.clips] == [
        ("D-END/nd00/Bicycle-ND00-1", ("day", "ND1")),
        ("N-END/nd64/Bicycle-ND64-2", ("night", "ND64")),
    ]
    assert "D-END/nd04 has no *.aedat4" in layout.problems
    assert len(layout.problems) == 6


def test_emlb_accepts_folders_per_scene_and_folder_end(tmp_path):
    touch(tmp_path, "END/D-END/Bicycle/Bicycle-ND16-1.aedat4", "END/D-END/Odd/odd.aedat4")
    layout = DATASETS["emlb"].layout(tmp_path)
    assert [clip.group for clip in layout.clips] == [("day", "ND16")]
    assert "the folder N-END is missing" in layout.problems
    assert any("odd.aedat4 does not state its filter" in problem for problem in layout.problems)


def test_dnd21_separates_sequences_from_noise(tmp_path):
    noise = "measured-noise/Davis346blue-2021-06-14T20-09-08+0200 noise dark 5p3Hz.aedat"
    touch(tmp_path, "hotel-bar/x.aedat", noise)
    layout = DATASETS["dnd21"].layout(tmp_path)
    assert [(clip.name, clip.group) for clip in layout.clips] == [("hotel-bar/x", ("hotel-bar",))]
    assert set(noise_files(tmp_path)) == {"dark-5hz"}
    assert len(layout.problems) == 3
    with pytest.raises(ConfigError, match="leak noise.aedat'. Get it from .* DND21"):
        noise_file(tmp_path, "leak")


def test_dnd21_needs_known_name_or_noise_folder(tmp_path):
    touch(tmp_path, "D-END/nd00/Bicycle-ND00-1.aedat4", "elsewhere/Driving/day.aedat")
    (clip,) = find_clips("dnd21", tmp_path)
    assert clip.name == "elsewhere/Driving/day"
    with pytest.raises(ConfigError, match=r"does not hold DND21: there is no \*.aedat file of a"):
        find_clips("dnd21", tmp_path / "D-END")
    touch(tmp_path, "measured-noise/a leak noise.aedat")  # only DND21 has this folder
    assert len(find_clips("dnd21", tmp_path)) == 2


def test_ecd_accepts_folders_zips_and_bags(tmp_path):
    touch(tmp_path, "dynamic_rotation/events.txt", "dynamic_rotation/imu.txt")
    touch(tmp_path, "dynamic_rotation/calib.txt", "boxes_rotation.zip")
    touch(tmp_path, "dynamic_translation.bag", "dynamic_translation/calib.txt")
    touch(tmp_path, "boxes_translation/events.txt")
    layout = DATASETS["ecd"].layout(tmp_path)
    assert [clip.path.name for clip in layout.clips] == [
        "dynamic_rotation",
        "boxes_rotation.zip",
        "dynamic_translation.bag",
    ]
    assert layout.problems == ("boxes_translation has no imu.txt",)


def test_ecd_reports_bag_without_calibration(tmp_path):
    touch(tmp_path, "dynamic_rotation.bag")
    layout = DATASETS["ecd"].layout(tmp_path)
    assert "dynamic_rotation.bag has no calib.txt beside it" in layout.problems


@pytest.mark.parametrize("name", DATASETS)
def test_empty_folder_error_names_source(name, tmp_path):
    with pytest.raises(ConfigError, match="does not hold .*: .*[.] Get it from"):
        find_clips(name, tmp_path)
    with pytest.raises(ConfigError, match="is not a folder. Get .* from"):
        find_clips(name, tmp_path / "nothing")


def test_missing_parts_are_logged(tmp_path, caplog):
    touch(tmp_path, "D-END/nd00/Bicycle-ND00-1.aedat4")
    with caplog.at_level(logging.WARNING):
        assert len(find_clips("emlb", tmp_path)) == 1
    assert "the folder N-END is missing" in caplog.text


def test_uniform_noise_is_uniform_and_keeps_signal(make_events):
    clean = make_events(20_000, seed=1)
    noisy = with_uniform_noise(clean, 0.5, seed=2)
    assert noisy[noisy.signal].with_signal(None).equals(clean)
    noise = noisy[~noisy.signal]
    assert len(noise) == 10_000
    assert noise.x.mean() == pytest.approx((clean.width - 1) / 2, rel=0.03)
    assert noise.t.mean() == pytest.approx(clean.t.mean(), rel=0.01)
    assert noise.p.mean() == pytest.approx(0.5, abs=0.03)
    assert with_uniform_noise(clean, 0.5, seed=2).equals(noisy)
    assert not with_uniform_noise(clean, 0.5, seed=3).equals(noisy)


def test_recorded_noise_keeps_positions_and_fills_duration(make_events):
    clean, noise = make_events(1000, seed=1), make_events(400, seed=2, t_start=0, duration_us=999)
    noisy = with_recorded_noise(clean, noise, 0.1, seed=3)
    added = noisy[~noisy.signal]
    assert len(added) == 100
    assert added.t[0] == clean.t[0]
    assert added.t[-1] == clean.t[-1]
    places = set(zip(noise.x.tolist(), noise.y.tolist(), strict=True))
    assert set(zip(added.x.tolist(), added.y.tolist(), strict=True)) <= places


def test_invalid_noise_raises(make_events):
    clean = make_events(100)
    with pytest.raises(EventDataError, match="needs 50 noise events; the noise recording has 10"):
        with_recorded_noise(clean, make_events(10), 0.5)
    with pytest.raises(EventDataError, match="one sensor"):
        with_recorded_noise(clean, make_events(100, resolution=(20, 20)), 0.5)
    with pytest.raises(ConfigError, match="`share` must be a number in 0..100"):
        with_uniform_noise(clean, -0.1)


def test_noise_of_empty_recording_is_empty():
    empty = Events.empty((8, 4))
    assert len(with_uniform_noise(empty, 0.5)) == 0
    assert len(with_recorded_noise(empty, empty, 0.5)) == 0


def test_ecd_zip_gives_same_motion_as_folder(ecd, tmp_path):
    from evcrisp.experiments.methods import AUTO
    from evcrisp.experiments.protocols import measure_motion

    source = ecd / "dynamic_rotation"
    with zipfile.ZipFile(tmp_path / "dynamic_rotation.zip", "w") as archive:
        for name in ("events.txt", "imu.txt", "calib.txt"):
            archive.write(source / name, name)
    settings = {"window_events": 5000, "max_events": 10_000}
    zipped, folder = (
        measure_motion(find_clips("ecd", root)[0], AUTO, settings) for root in (tmp_path, ecd)
    )
    assert zipped == folder
    assert len(folder["theta_rad_s"]) == 2
    assert np.isfinite(folder["theta_rad_s"]).all()


def test_recorded_noise_on_real_recording(data_dir):
    clean = evcrisp.read(data_dir / "aedat2" / "dvs128_MovingDarkBox.aedat")
    noise = evcrisp.read(data_dir / "aedat2" / "dvs128_noise_foam90.aedat")
    noisy = with_recorded_noise(clean, noise, 0.002, seed=0)
    added = noisy[~noisy.signal]
    assert len(added) == round(0.002 * len(clean))
    assert noisy[noisy.signal].with_signal(None).equals(clean)
    assert added.p.mean() == pytest.approx(noise.p.mean(), abs=0.05)
