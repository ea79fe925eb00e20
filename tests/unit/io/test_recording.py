"""Rules of all formats, tested with a source of chosen packets."""

import logging
import pickle
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, Events, FormatError, MissingExtraError
from evcrisp.core.sensor_data import Imu
from evcrisp.io.protocol import Packet, Source
from evcrisp.io.recording import Recording


def packet(t, x=None, y=None, offset=0):
    t = np.asarray(t, np.int64)
    x = np.zeros(t.size, np.uint16) if x is None else np.asarray(x, np.uint16)
    y = np.zeros(t.size, np.uint16) if y is None else np.asarray(y, np.uint16)
    return Packet(x, y, t, np.ones(t.size, np.bool_), offset)


@dataclass(slots=True)
class ListSource(Source):
    items: list = field(default_factory=list)

    def packets(self):
        for item in self.items:
            if isinstance(item, Exception):
                raise item
            yield item

    def imu(self):
        zeros = np.zeros((2, 3))
        part = Imu(t=np.array([1, 2]), gyro_rad_s=zeros, accel_m_s2=zeros)
        raise FormatError("imu damaged", offset=5, partial=part)


class ListReader:
    name = "list"
    title = "a list"
    suffixes = (".list",)
    standard_sizes = ((8, 8), (100, 50))
    foreign_errors = (ZeroDivisionError,)

    def __init__(self, items, resolution=(8, 8)):
        self.items, self.resolution = items, resolution

    def recognizes(self, head, path):
        return False

    def open(self, path):
        return ListSource(resolution=self.resolution, items=self.items)


def recording(*items, resolution=(8, 8), **options):
    return Recording(Path("a.list"), ListReader(items, resolution), **options)


DAMAGES = {
    "decreasing time": (
        [packet([1, 5, 3], offset=40)],
        2,
        40,
        "time decreases from 5 to 3 us, in the piece",
    ),
    "decreasing time between packets": ([packet([9]), packet([8], offset=7)], 1, 7, "from 9 to 8"),
    "column outside": ([packet([1, 2, 3], x=[0, 8, 0], offset=9)], 1, 9, "x=8, y=0 lies outside"),
    "row outside": ([packet([1, 2, 3], y=[7, 7, 9])], 2, 0, "y=9 lies outside the sensor of 8x8"),
    "the first of two wrongs": ([packet([1, 2, 1], x=[0, 9, 0])], 1, 0, "lies outside"),
    "an error of a reader": (
        [packet([1, 2]), FormatError("cut short", offset=77)],
        2,
        77,
        "cut short",
    ),
    "an error of a library": (
        [packet([1]), ZeroDivisionError("no")],
        1,
        0,
        "not readable as a list: no",
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_raised_after_the_events_before_it(name):
    items, n_before, offset, message = DAMAGES[name]
    delivered = 0
    with pytest.raises(FormatError, match=message) as caught:
        for chunk in recording(*items).chunks(2):
            delivered += len(chunk)
    assert delivered == n_before
    assert (caught.value.n_before, caught.value.offset) == (n_before, offset)
    assert caught.value.path == Path("a.list")
    with pytest.raises(FormatError, match=message):
        recording(*items).read()


@pytest.mark.parametrize("name", DAMAGES)
def test_truncate_keeps_the_events_before_the_damage(name, caplog):
    items, n_before, _, _ = DAMAGES[name]
    opened = recording(*items, on_error="truncate")
    assert len(opened.read()) == n_before
    assert opened.damage is not None
    assert [r.levelno for r in caplog.records] == [logging.WARNING]
    assert f"kept the {n_before} event{'' if n_before == 1 else 's'} before" in caplog.text


@pytest.mark.parametrize("name", [name for name in DAMAGES if "time" in name or "an error" in name])
def test_damage_without_known_size_keeps_the_events_before_it(name):
    items, n_before, _, message = DAMAGES[name]
    delivered = 0
    with pytest.raises(FormatError, match=message):
        for chunk in recording(*items, resolution=None).chunks():
            delivered += len(chunk)
    assert delivered == n_before
    opened = recording(*items, resolution=None, on_error="truncate")
    assert sum(len(chunk) for chunk in opened.chunks()) == n_before


def test_programming_error_is_not_translated():
    with pytest.raises(KeyError):
        recording(KeyError("bug")).read()


def test_chunks_are_bounded_and_complete():
    opened = recording(packet(range(10)), packet([]), packet(range(10, 13)))
    sizes = [len(chunk) for chunk in opened.chunks(4)]
    assert sizes == [4, 4, 2, 3]
    assert opened.read().t.tolist() == list(range(13))
    with pytest.raises(ConfigError, match="`max_events` must be a positive whole number; got 0"):
        next(opened.chunks(0))


def test_second_read_gives_the_same_events():
    opened = recording(packet([1, 2]))
    assert opened.read().equals(opened.read())


def test_recording_without_events_is_valid():
    assert recording().read().equals(Events.empty((8, 8)))
    assert recording(resolution=None).read().resolution == (8, 8)


@pytest.mark.parametrize(
    ("x", "y", "size"), [(7, 7, (8, 8)), (8, 0, (100, 50)), (0, 20, (100, 50)), (120, 3, (121, 4))]
)
def test_smallest_standard_size_that_holds_all_events_is_taken(x, y, size, caplog):
    for read in (lambda r: r.read(), lambda r: next(r.chunks())):
        opened = recording(packet([1], x=[x], y=[y]), resolution=None)
        assert read(opened).resolution == size
        assert opened.resolution_source == "guessed"
    assert "does not state its sensor size" in caplog.text


def test_given_size_overrides_the_file():
    reader = ListReader([packet([1], x=[7])])
    assert Recording(Path("a"), reader).resolution_source == "file"
    assert Recording(Path("a"), reader, resolution=(50, 60)).read().resolution == (50, 60)
    with pytest.raises(FormatError, match="outside the sensor of 5x5"):
        Recording(Path("a"), reader, resolution=(5, 5)).read()


@pytest.mark.parametrize("size", [(0, 5), (5, -1), (70_000, 5)])
def test_impossible_size_in_the_file_is_refused(size):
    with pytest.raises(FormatError, match="impossible sensor size"):
        recording(resolution=size)


def test_truncate_keeps_partial_sensor_data(caplog):
    assert len(recording(on_error="truncate").imu()) == 2
    with pytest.raises(FormatError, match="imu damaged"):
        recording().imu()


def test_unknown_error_modes_are_refused():
    with pytest.raises(
        ConfigError, match="`on_error` must be one of 'raise', 'truncate'; got 'skip'"
    ):
        recording(on_error="skip")


def test_closed_recording_raises():
    opened = recording(packet([1, 2]))
    chunks = opened.chunks(1)
    next(chunks)
    opened.close()
    assert list(chunks) == []
    for call in (opened.read, opened.imu, lambda: list(opened.frames())):
        with pytest.raises(ConfigError, match="is closed"):
            call()


def test_progress_follows_the_bytes(tmp_path):
    path = tmp_path / "a.list"
    path.write_bytes(bytes(100))
    opened = Recording(path, ListReader([packet([1], offset=50), packet([2], offset=80)]))
    shares = [opened.fraction_read for _ in opened.chunks()]
    assert shares == [0.5, 0.8]


def test_progress_follows_the_events_if_their_number_is_known(tmp_path, make_events):
    path = tmp_path / "a.npz"
    evcrisp.write(path, make_events(10_000))
    with evcrisp.open(path) as opened:
        assert opened.fraction_read is None
        shares = [opened.fraction_read for _ in opened.chunks()]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_errors_can_be_pickled():
    error = FormatError("cut short", offset=3, path=Path("a"), n_before=2)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    missing = MissingExtraError("h5py", extra="hdf5", purpose="Files")
    assert str(pickle.loads(pickle.dumps(missing))) == str(missing)


@pytest.mark.parametrize("t", [[-(2**63), 1, 2], [-(2**62) - 1, 1, 2]])
def test_impossible_first_time_is_damage(t):
    with pytest.raises(FormatError, match=f"impossible time {t[0]} us") as caught:
        recording(packet(t)).read()
    assert caught.value.n_before == 0


def test_events_before_an_impossible_time_are_kept():
    opened = recording(packet([1, 2]), packet([3, 4, 2**62]), on_error="truncate")
    assert opened.read().t.tolist() == [1, 2, 3, 4]
    assert "impossible time" in str(opened.damage)


def test_polarities_with_other_bytes_become_zero_and_one():
    odd = packet([1, 2, 3])
    odd.p.view(np.uint8)[:] = (0, 1, 200)
    assert recording(odd).read().p.view(np.uint8).tolist() == [0, 1, 1]


def test_impossible_size_is_not_guessed():
    far = packet([1, 2], x=[0, 65_535])
    with pytest.raises(FormatError, match="need 65536x1 px, more than any known sensor"):
        recording(far, resolution=None).read()
    with pytest.raises(FormatError, match="more than any known sensor"):
        list(recording(far, resolution=None).chunks())


def test_size_above_all_standard_sizes_is_not_called_one(tmp_path, caplog):
    (tmp_path / "a.csv").write_text("t,x,y,p\n0,1999,3,1\n")
    with evcrisp.open(tmp_path / "a.csv") as recording:
        assert recording.resolution == (2000, 4)
    assert "taking 2000x4, the extent of the events, which no standard size holds" in caplog.text
    assert "standard size that holds" not in caplog.text
