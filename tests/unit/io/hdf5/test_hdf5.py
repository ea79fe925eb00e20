"""HDF5 layouts of other programs, written with h5py."""

import logging
import subprocess
import sys

import numpy as np
import pytest

import evcrisp
from evcrisp import FormatError
from evcrisp.io import READERS, detect

h5py = pytest.importorskip("h5py", reason="h5py is what reads HDF5")
hdf5plugin = pytest.importorskip("hdf5plugin", reason="hdf5plugin brings Blosc")

T0 = 1_500_000_000_000_000  # us
EVENT_CD = np.dtype(
    {
        "names": ["x", "y", "p", "t"],
        "formats": ["<u2", "<u2", "<i2", "<i8"],
        "offsets": [0, 2, 4, 8],
        "itemsize": 16,
    }
)
EXT_TRIGGER = np.dtype(
    {
        "names": ["p", "t", "id"],
        "formats": ["<i2", "<i8", "<i2"],
        "offsets": [0, 8, 16],
        "itemsize": 24,
    }
)


def write_dsec(path, events, **options):
    with h5py.File(path, "w") as file:
        file["t_offset"] = np.int64(1_000_000)
        file["ms_to_idx"] = np.zeros(3, np.uint64)
        for name, dtype in {"x": "u2", "y": "u2", "p": "u1"}.items():
            file.create_dataset(
                f"events/{name}", data=getattr(events, name).astype(dtype), **options
            )
        t = (events.t - 1_000_000).astype("u4")
        file.create_dataset("events/t", data=t, **options)


def write_mvsec(path, events):
    rng = np.random.default_rng(3)
    with h5py.File(path, "w") as file:
        seconds = (T0 + events.t) / 1e6
        table = np.stack([events.x, events.y, seconds, np.where(events.p, 1, -1)], axis=1)
        file["davis/left/events"] = table.astype(np.float64)
        file["davis/right/events"] = table[:10].astype(np.float64)
        file["davis/left/imu"] = np.hstack(
            [rng.normal((0, 0, 9.8), size=(20, 3)), rng.normal(size=(20, 3))]
        )
        file["davis/left/imu_ts"] = T0 / 1e6 + np.arange(20) / 1000
        file["davis/left/image_raw"] = rng.integers(0, 256, (3, 26, 34)).astype(np.uint8)
        file["davis/left/image_raw_ts"] = T0 / 1e6 + np.arange(3) / 100


def write_m3ed(path, events):
    with h5py.File(path, "w") as file:
        for name, dtype in {"x": "u2", "y": "u2", "t": "i8", "p": "i1"}.items():
            file[f"prophesee/left/{name}"] = getattr(events, name).astype(dtype)
        file["prophesee/left/calib/resolution"] = np.array([1280, 720])
        file["prophesee/left/ms_map_idx"] = np.zeros(3, np.uint64)
        file["ovc/imu/ts"] = np.arange(4) * 2500
        file["ovc/imu/omega"] = np.arange(12.0).reshape(4, 3)
        accel = np.arange(12.0).reshape(4, 3) + 100
        accel[1] = np.nan
        file["ovc/imu/accel"] = accel


def write_prophesee(path, events, **options):
    records = np.zeros(len(events), EVENT_CD)
    for name in ("x", "y", "t", "p"):
        records[name] = getattr(events, name)
    triggers = np.zeros(3, EXT_TRIGGER)
    triggers["p"], triggers["t"], triggers["id"] = [1, 0, 1], [5, 6, 9], [0, 0, 2]
    with h5py.File(path, "w") as file:
        file.create_dataset("CD/events", data=records, **options)
        file["EXT_TRIGGER/events"] = triggers
        file.attrs["geometry"] = "346x260"
        file.attrs["serial_number"] = "00000042"


def same(read, events):
    return all(np.array_equal(getattr(read, n), getattr(events, n)) for n in ("x", "y", "t", "p"))


@pytest.mark.parametrize("packing", ["plain", "chunks", "blosc", "gzip"])
def test_dsec_is_read_with_its_time_offset(make_events, tmp_path, packing):
    options = {
        "plain": {},
        "chunks": {"chunks": (300,), "maxshape": (None,)},
        "blosc": dict(hdf5plugin.Blosc(cname="zstd")),
        "gzip": {"compression": "gzip"},
    }[packing]
    events = make_events(2000)
    write_dsec(tmp_path / "a.h5", events, **options)
    with evcrisp.open(tmp_path / "a.h5", resolution=(346, 260)) as opened:
        assert opened.format == "dsec"
        assert opened.read().equals(events)
        assert opened.metadata["t_offset_us"] == 1_000_000
        assert opened.imu() is None


def test_missing_size_of_dsec_is_guessed_with_a_warning(make_events, tmp_path, caplog):
    write_dsec(tmp_path / "a.h5", make_events(500, resolution=(640, 480)))
    with evcrisp.open(tmp_path / "a.h5") as opened:
        assert opened.resolution == (640, 480)
        assert opened.resolution_source == "guessed"
    assert "does not state its sensor size" in caplog.text


def test_tum_vie_without_an_offset_is_the_same_layout(make_events, tmp_path):
    events = make_events(100, t_start=0)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name in ("x", "y", "t", "p"):
            file[f"events/{name}"] = getattr(events, name)
        file["ms_to_idx"] = np.zeros(3, np.uint64)
    assert same(evcrisp.read(tmp_path / "a.h5"), events)


def test_mvsec_gives_events_imu_and_frames_of_the_left_camera(make_events, tmp_path):
    events = make_events(2000)
    write_mvsec(tmp_path / "a.hdf5", events)
    with evcrisp.open(tmp_path / "a.hdf5") as opened:
        read = opened.read()
        imu, frames = opened.imu(), list(opened.frames())
        assert opened.format == "mvsec"
        assert opened.metadata["camera"] == "left"
        assert opened.metadata["cameras"] == ["left", "right"]
    assert read.resolution == (346, 260)
    np.testing.assert_array_equal(read.t, events.t + T0)
    np.testing.assert_array_equal(read.x, events.x)
    np.testing.assert_array_equal(read.p, events.p)
    assert len(imu) == 20
    assert abs(np.median(imu.accel_m_s2[:, 2]) - 9.8) < 1  # gravity distinguishes the sensors
    assert abs(np.median(imu.gyro_rad_s)) < 1
    np.testing.assert_array_equal(imu.t, T0 + np.arange(20) * 1000)
    assert [frame.t for frame in frames] == [T0, T0 + 10_000, T0 + 20_000]
    with h5py.File(tmp_path / "a.hdf5") as file:
        np.testing.assert_array_equal(frames[2].image, file["davis/left/image_raw"][2])


def test_mvsec_without_left_camera_gives_the_right_one(make_events, tmp_path):
    write_mvsec(tmp_path / "a.hdf5", make_events(20))
    with h5py.File(tmp_path / "a.hdf5", "a") as file:
        del file["davis/left"]
    with evcrisp.open(tmp_path / "a.hdf5") as opened:
        assert opened.metadata["camera"] == "right"
        assert len(opened.read()) == 10
        assert opened.imu() is None
        assert list(opened.frames()) == []


def test_m3ed_gives_events_size_and_the_measured_imu_samples(make_events, tmp_path):
    events = make_events(2000, resolution=(1280, 720))
    write_m3ed(tmp_path / "a.h5", events)
    with evcrisp.open(tmp_path / "a.h5") as opened:
        assert opened.format == "m3ed"
        assert opened.read().equals(events)
        imu = opened.imu()
    np.testing.assert_array_equal(imu.t, [0, 5000, 7500])
    np.testing.assert_array_equal(imu.gyro_rad_s[1], [6, 7, 8])
    np.testing.assert_array_equal(imu.accel_m_s2[1], [106, 107, 108])


def test_prophesee_tables_give_events_triggers_and_facts(make_events, tmp_path):
    events = make_events(2000)
    write_prophesee(tmp_path / "a.hdf5", events, chunks=(300,))
    with evcrisp.open(tmp_path / "a.hdf5") as opened:
        assert opened.format == "prophesee-hdf5"
        assert opened.read().equals(events)
        triggers = opened.triggers()
        assert opened.metadata["serial_number"] == "00000042"
    assert triggers.t.tolist() == [5, 6, 9]
    assert triggers.kind.tolist() == [1, 2, 1]
    assert triggers.channel.tolist() == [0, 0, 2]


def test_event_utils_columns_in_seconds_and_its_size(make_events, tmp_path):
    events = make_events(500)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["events/xs"], file["events/ys"] = events.x.astype("i2"), events.y.astype("i2")
        file["events/ts"], file["events/ps"] = events.t / 1e6, events.p
        file.attrs["sensor_resolution"] = (260, 346)
    with evcrisp.open(tmp_path / "a.h5") as opened:
        assert opened.format == "hdf5"
        assert opened.read().equals(events)


def test_columns_at_the_root(make_events, tmp_path):
    events = make_events(500)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name in ("x", "y", "t", "p"):
            file[name] = getattr(events, name)
        file.attrs["width"], file.attrs["height"] = 346, 260
    assert evcrisp.read(tmp_path / "a.h5").equals(events)


def test_v2e_tables_and_tables_of_records(make_events, tmp_path):
    events = make_events(500)
    with h5py.File(tmp_path / "v2e.h5", "w") as file:
        columns = [events.t, events.x, events.y, events.p]
        file["events"] = np.stack(columns, axis=1).astype(np.uint32)
    assert same(evcrisp.read(tmp_path / "v2e.h5"), events)
    with h5py.File(tmp_path / "records.h5", "w") as file:
        file["events"] = events.to_structured()
    assert same(evcrisp.read(tmp_path / "records.h5"), events)


def test_file_with_user_data_before_it_is_recognized(make_events, tmp_path):
    events = make_events(20)
    with h5py.File(tmp_path / "a.dat", "w", userblock_size=512) as file:
        for name in ("x", "y", "t", "p"):
            file[f"events/{name}"] = getattr(events, name)
    assert detect(tmp_path / "a.dat").name == "dsec"
    assert same(evcrisp.read(tmp_path / "a.dat"), events)


def test_reader_of_all_layouts_reads_every_layout_by_name(make_events, tmp_path):
    events = make_events(50)
    writers = (write_dsec, write_mvsec, write_m3ed, write_prophesee)
    for number, write in enumerate(writers):
        write(tmp_path / f"{number}.h5", events)
        read = evcrisp.read(tmp_path / f"{number}.h5", format="hdf5", resolution=(346, 260))
        np.testing.assert_array_equal(read.x, events.x)


@pytest.mark.parametrize("name", ["dsec", "mvsec", "m3ed", "prophesee-hdf5"])
def test_missing_layout_is_reported(name, tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["something"] = np.arange(3)
    with pytest.raises(FormatError, match="expected"):
        evcrisp.open(tmp_path / "a.h5", format=name)


def test_error_for_a_file_without_events_lists_its_content(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["weights"] = np.arange(3)
    with pytest.raises(FormatError, match="no column for 'x'.*the file has weights"):
        evcrisp.open(tmp_path / "a.h5")


def test_columns_of_different_length_give_the_common_part_and_then_an_error(make_events, tmp_path):
    events = make_events(500)
    write_dsec(tmp_path / "a.h5", events)
    with h5py.File(tmp_path / "a.h5", "a") as file:
        y = file["events/y"][:300]
        del file["events/y"]
        file["events/y"] = y
    with pytest.raises(FormatError, match="columns differ in length.*after 300 events"):
        evcrisp.read(tmp_path / "a.h5")
    with evcrisp.open(tmp_path / "a.h5", on_error="truncate", resolution=(346, 260)) as opened:
        assert opened.read().equals(events[:300])
        assert opened.damage.n_before == 300


@pytest.mark.parametrize("rows", [10**12, 10**6])
@pytest.mark.parametrize("packing", [{}, {"compression": "gzip"}])
def test_rows_that_were_never_written_are_not_events(make_events, tmp_path, rows, packing):
    events = make_events(500)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name, dtype in {"x": "u2", "y": "u2", "t": "i8", "p": "u1"}.items():
            column = file.create_dataset(
                f"events/{name}", (rows,), dtype, chunks=(250,), maxshape=(None,), **packing
            )
            column[:500] = getattr(events, name)
    with pytest.raises(FormatError, match=f"states {rows:,} rows, but has 500"):
        evcrisp.read(tmp_path / "a.h5")
    with evcrisp.open(tmp_path / "a.h5", on_error="truncate", resolution=(346, 260)) as opened:
        assert opened.read().equals(events)


def test_dataset_without_any_storage_is_refused(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name in "xytp":
            file.create_dataset(f"events/{name}", (10**12,), "u2")
    with pytest.raises(FormatError, match="states 1,000,000,000,000 rows, but has 0"):
        evcrisp.read(tmp_path / "a.h5")


def test_impossible_chunks_are_refused_before_allocation(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name in "xytp":
            file.create_dataset(
                f"events/{name}", (10,), "i8", chunks=(2**28,), maxshape=(None,), compression="gzip"
            )
    with pytest.raises(FormatError, match="chunks of 2,147,483,648 bytes, too large for its file"):
        evcrisp.read(tmp_path / "a.h5")


@pytest.mark.parametrize("kind", ["external", "soft"])
def test_links_are_not_followed(make_events, tmp_path, kind):
    write_dsec(tmp_path / "other.h5", make_events(20))
    target = h5py.ExternalLink("other.h5", "events") if kind == "external" else h5py.SoftLink("/a")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_group("a")
        file["events"] = target
    with pytest.raises(FormatError, match="which is not followed"):
        evcrisp.open(tmp_path / "a.h5")


def test_data_in_other_files_is_not_read(tmp_path):
    (tmp_path / "secret").write_bytes(bytes(80))
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name in "xytp":
            file.create_dataset(f"events/{name}", (10,), "i8", external=str(tmp_path / "secret"))
    with pytest.raises(FormatError, match="has its data in other files"):
        evcrisp.open(tmp_path / "a.h5")


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("x", np.full(20, -1), "x must lie in 0..65535"),
        ("x", np.full(20, 0.5), "fractions of pixels"),
        ("p", np.full(20, 7), "polarity must be 0/1 or -1/\\+1"),
        ("t", np.full(20, np.nan), "not a finite number of"),
        ("x", np.array([b"a"] * 20), "must be numbers with 1 axes"),
        ("x", np.zeros((20, 2)), "must be numbers with 1 axes"),
    ],
)
def test_impossible_values_are_refused(make_events, tmp_path, column, values, message):
    write_dsec(tmp_path / "a.h5", make_events(20))
    with h5py.File(tmp_path / "a.h5", "a") as file:
        del file[f"events/{column}"]
        file[f"events/{column}"] = values
    with pytest.raises(FormatError, match=message):
        evcrisp.read(tmp_path / "a.h5")


@pytest.mark.parametrize("value", [np.nan, 1e300, np.arange(3)])
def test_impossible_time_offset_is_refused(make_events, tmp_path, value):
    write_dsec(tmp_path / "a.h5", make_events(20))
    with h5py.File(tmp_path / "a.h5", "a") as file:
        del file["t_offset"]
        file["t_offset"] = value
    with pytest.raises(FormatError, match="t_offset"):
        evcrisp.read(tmp_path / "a.h5")


@pytest.mark.parametrize("write", [write_dsec, write_mvsec, write_m3ed, write_prophesee])
def test_damaged_files_give_events_or_a_format_error(make_events, tmp_path, write, caplog):
    caplog.set_level(logging.CRITICAL)
    write(tmp_path / "whole.h5", make_events(300))
    whole = (tmp_path / "whole.h5").read_bytes()
    rng = np.random.default_rng(11)
    messages = []
    path = tmp_path / "damaged.h5"
    for number in range(60):
        damaged = bytearray(whole)
        if number % 3 == 0:
            damaged = damaged[: int(rng.integers(9, len(whole)))]
        else:
            end = 6000 if number % 3 == 1 else len(whole)
            damaged[int(rng.integers(9, min(end, len(whole))))] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        for on_error in ("raise", "truncate"):
            try:
                with evcrisp.open(path, on_error=on_error, resolution=(2000, 2000)) as opened:
                    opened.read()
                    opened.imu(), opened.triggers(), list(opened.frames())
            except FormatError as error:
                messages.append(str(error))
    assert len(messages) > 20
    assert all(str(path) in message for message in messages)


WITHOUT_H5PY = """
import sys
sys.modules["h5py"] = None
import pathlib, evcrisp
from evcrisp.io import detect
print(detect(pathlib.Path(sys.argv[1])).name)
try:
    evcrisp.open(sys.argv[1])
except evcrisp.MissingExtraError as error:
    print(error)
"""


def test_missing_h5py_names_format_and_extra(make_events, tmp_path):
    write_dsec(tmp_path / "a.h5", make_events(20))
    result = subprocess.run(
        [sys.executable, "-c", WITHOUT_H5PY, tmp_path / "a.h5"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.splitlines() == [
        "hdf5",
        "HDF5 recordings need the package 'h5py'. Install it with: pip install \"evcrisp[hdf5]\"",
    ]


def test_packets_are_bounded_and_repeatable(make_events, tmp_path):
    from evcrisp.io.protocol import PACKET_EVENTS

    events = make_events(PACKET_EVENTS + 1000)
    write_dsec(tmp_path / "a.h5", events)
    source = READERS["dsec"].open(tmp_path / "a.h5")
    for _ in range(2):
        sizes = [packet.t.size for packet in source.packets()]
        assert sizes == [PACKET_EVENTS, 1000]
    source.close()


def test_eventcv_reads_the_same(make_events, tmp_path):
    eventcv = pytest.importorskip("eventcv", reason="eventcv is the independent reader")
    events = make_events(2000)
    write_dsec(tmp_path / "a.h5", events, chunks=(500,))
    theirs = eventcv.load(str(tmp_path / "a.h5"), sensor_size=(346, 260), time_unit="microseconds")
    columns = theirs.numpy()
    np.testing.assert_array_equal(columns[:, 0], events.x)
    np.testing.assert_array_equal(columns[:, 1], events.y)


def test_members_whose_names_are_not_utf8_are_ignored(make_events, tmp_path):
    events = make_events(50)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name in "xytp":
            file[f"events/{name}"] = getattr(events, name)
        h5py.h5g.create(file["events"].id, b"\xff\xfe")
    found = evcrisp.read(tmp_path / "a.h5", resolution=events.resolution)
    assert found.equals(events)
