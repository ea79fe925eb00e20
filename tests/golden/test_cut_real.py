"""Parts of real recordings equal the same parts of the whole recordings."""

import numpy as np
import pytest

import evcrisp

RECORDINGS = (
    "aedat2/davis240c_IMU_rotDisk.aedat",
    "aedat2/dvs128_noise_foam90.aedat",
    "aedat4/dvs128_hand_2024-06-20_16-13-00.aedat4",
    "aedat4/dvxplorer_320x240_tonic_sample.aedat4",
    "dvs128-mat/stripes.mat",
    "ecd/slider_depth_chunk",
    "emlb/demo-01.aedat4",
    "eventstream/dvs.es",
    "nmnist/sample_nmnist.bin",
    "prophesee/gen3_640x480_evt2_sample.raw",
    "prophesee/gen41_1280x720_evt3_sample.raw",
    "prophesee/ncars_obj_004397_td.dat",
    "ros/ros1_evt3_640x480_test_events_1.bag",
    "ros/ros2_evt3_640x480_test_events_1",
    "ros/ros2_evt3_trigger_1280x720",
    "ros/ros2_libcaer_cmp_davis346_test_events_2",
)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("name", RECORDINGS)
def test_part_of_a_real_recording(name, share, data_dir):
    if not (data_dir / name).exists():
        pytest.skip(f"{name} is missing")
    with evcrisp.open(data_dir / name) as opened:
        events, imu, triggers = opened.read(), opened.imu(), opened.triggers()
        frames = list(opened.frames())
        offset = opened._source.sensor_clock_offset
    start_us, duration_us = int(share * events.duration_us), max(events.duration_us // 10, 1)
    start = int(events.t[0]) + start_us
    end = start + duration_us
    cut = {"start_us": start_us, "duration_us": duration_us}
    with evcrisp.open(data_dir / name, **cut) as part:
        assert part.read().equals(events.between(start, end))
        assert sum(map(len, part.chunks())) == len(events.between(start, end))
        assert_same_times(part.imu(), imu, start + offset, end + offset)
        assert_same_times(part.triggers(), triggers, start, end)
        times = [frame.t for frame in frames if start + offset <= frame.t < end + offset]
        assert [frame.t for frame in part.frames()] == times


def assert_same_times(part, whole, start, end):
    expected = [] if whole is None else whole.t[(whole.t >= start) & (whole.t < end)].tolist()
    assert ([] if part is None else part.t.tolist()) == expected


def test_part_of_the_data_set_sample_follows_its_frames(data_dir):
    path = data_dir / "emlb" / "demo-01.aedat4"
    if not path.exists():
        pytest.skip("the recording is missing")
    roi = (100, 120, 64, 48)
    with evcrisp.open(path) as whole, evcrisp.open(path, start_us=200_000, roi=roi) as part:
        frames = {frame.t: frame.image for frame in whole.frames()}
        cropped = list(part.frames())
        assert 0 < len(cropped) < len(frames)
        for frame in cropped:
            assert np.array_equal(frame.image, frames[frame.t][120:168, 100:164])
