"""CSV: columns by name in any order, or Metavision's order without names."""

import gzip
from itertools import pairwise

import numpy as np
import pytest

import evcrisp
from evcrisp import Events, FormatError

SIZE = (640, 480)


def read_text(tmp_path, text, name="a.csv", **options):
    path = tmp_path / name
    path.write_bytes(text)
    return evcrisp.read(path, resolution=options.pop("resolution", SIZE), **options)


TWO = Events(x=[3, 4], y=[1, 2], t=[1_000_000, 1_000_010], p=[1, 0], resolution=SIZE)


@pytest.mark.parametrize(
    "text",
    [
        b"t,x,y,p\n1000000,3,1,1\n1000010,4,2,0\n",
        b"x,y,p,t\n3,1,1,1000000\n4,2,-1,1000010\n",
        b"x;y;polarity;timestamp\r\n3;1;1;1000000\r\n4;2;0;1000010\r\n",
        b"x\ty\ton\tts\n3\t1\tTrue\t1000000\n4\t2\tFalse\t1000010\n",
        b"t x y p\n1.0 3 1 1\n1.00001 4 2 0\n",
        b"t,x,y,p\n1.0,3,1,1\n1.00001,4,2,0\n",
        b'"X", "Y", "P", "T"\n3, 1, 1, 1000000\n4, 2, 0, 1000010',
        b"label,x,y,depth,t,p\ncar,3,1,,1000000,1\ndog,4,2,1.5,1000010,0\n",
        b"x,y,polarity,timestamp_us\n3,1,1,1000000\n4,2,0,1000010\n",
        b"time [s],x,y,p\n1,3,1,1\n1.00001,4,2,0\n",
        b"t,x,y,p\n1000000.0,3,1,1\n1000010.0,4,2,0\n",
        b"t,x,y,p\n1e6,3,1,1\n1.00001E6,4,2,0\n",
        b"t,x,y,p\n1000000.,3,1,1\n1000010,4,2,0\n",
        b"t_s,x,y,p\n1,3,1,1\n1.00001,4,2,0\n",
        b"\xef\xbb\xbft,x,y,p\n1000000,3,1,1\n1000010,4,2,0\n",
        b"3,1,1,1000000\n4,2,0,1000010\n",
        b"%geometry:640,480\n3,1,1,1000000\n4,2,0,1000010\n",
        b"# by hand\n\n  t,x,y,p\n\n1000000,3,1,1\n# half way\n1000010,4,2,0\n",
    ],
)
def test_columns_are_found_for_all_names_and_delimiters(tmp_path, text):
    assert read_text(tmp_path, text).equals(TWO)
    with evcrisp.open(tmp_path / "a.csv") as opened:
        assert opened.format == "csv"
    assert read_text(tmp_path, gzip.compress(text), "a.csv.gz").equals(TWO)


def test_unit_of_time_does_not_change_within_a_file(tmp_path):
    """The first lines decide it, for all sizes of blocks."""
    n = 40_000  # more than the bytes that are looked at
    whole = b"t,x,y,p\n" + b"".join(b"%d.0,1,2,1\n" % k for k in range(n))
    events = read_text(tmp_path, whole)
    assert (int(events.t[1]), int(events.t[-1])) == (1, n - 1)
    with evcrisp.open(tmp_path / "a.csv", resolution=SIZE) as opened:
        assert [chunk.t[0] for chunk in opened.chunks(7_000)] == list(range(0, n, 7_000))
    late = whole + b"%d.5,1,2,1\n" % n
    with pytest.raises(FormatError, match="t must be whole microseconds; .*name its column `t_s`"):
        read_text(tmp_path, late)
    assert len(read_text(tmp_path, late, on_error="truncate")) == n
    early = whole.replace(b"\n5.0,", b"\n5.25,")
    with pytest.raises(FormatError, match="name its column `t_s`.*after 5 events"):
        read_text(tmp_path, early)


def test_one_changed_character_does_not_change_the_unit_of_time(tmp_path):
    text = b"t,x,y,p\n" + b"".join(b"%d,1,2,1\n" % (1000 + k) for k in range(50))
    for at in range(8, len(text) - 1):
        for byte in b".eE":
            changed = text[:at] + bytes([byte]) + text[at + 1 :]
            t = read_text(tmp_path, changed, on_error="truncate").t
            assert np.count_nonzero(t != np.arange(1000, 1000 + t.size)) <= 1


def test_seconds_with_whole_numbers_among_them_are_found(tmp_path):
    text = b"t,x,y,p\n" + b"".join(b"%.1f,1,2,1\n" % (k / 10) for k in range(40))
    assert read_text(tmp_path, text).t[[0, 10, 39]].tolist() == [0, 1_000_000, 3_900_000]


def test_sensor_size_is_read_from_a_comment(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"%geometry:1280,720\n3,1,1,100\n")
    (tmp_path / "b.csv").write_bytes(b"# evcrisp width=346 height=260\nt,x,y,p\n1,3,1,1\n")
    assert evcrisp.read(tmp_path / "a.csv").resolution == (1280, 720)
    assert evcrisp.read(tmp_path / "b.csv").resolution == (346, 260)


@pytest.mark.parametrize("order", ["xypt", "txyp", "xytp"])
@pytest.mark.parametrize("delimiter", [",", " ", "\t", ";"])
def test_order_of_unnamed_columns_is_found_from_their_values(
    tmp_path, make_events, order, delimiter
):
    events = make_events(300, resolution=SIZE)
    rows = np.stack([getattr(events, name).astype(np.int64) for name in order], axis=1)
    np.savetxt(tmp_path / "a.txt", rows, "%d", delimiter)
    assert evcrisp.read(tmp_path / "a.txt", resolution=SIZE).equals(events)


def test_columns_without_names_that_fit_no_order_are_refused(tmp_path):
    message = "no names, and their values fit none or several.*Add a first line of names"
    for text in (
        b"3,4,100,2\n5,6,200,0\n",
        b"3,4,100,1\n5,6,200,0\n",
        b"0.1,3,4,1\n",
        b"3,1,1\n",
        b"3,1,1,200\n4,1,1,100\n",
    ):
        with pytest.raises(FormatError, match=message):
            read_text(tmp_path, text)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (b"x,y,p", "no column for 't'"),
        (b"t,x,y,p,x", "two columns are named 'x'"),
        (b"x,y,p,timestamp_ns", "no column for 't'.*timestamp_ns"),
    ],
)
def test_unusable_column_names_are_refused(tmp_path, names, message):
    with pytest.raises(FormatError, match=message):
        read_text(tmp_path, names + b"\n1,2,1,100,1\n")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"100,1,2", "line 4 has 3 columns; expected 4"),
        (b"100,1,2,1,7", "line 4 has 5 columns; expected 4"),
        (b"100,1,,1", "line 4 is wrong: y must be a number"),
        (b"100,x,2,1", "line 4 is wrong: x must be a number"),
        (b"100.5,1,2,1", "line 4 is wrong: t must be whole microseconds; got '100.5,1,2,1'"),
        (b"99999999999999999999,1,2,1", "t must be whole microseconds within 64 bits"),
        (b"100,1,2,yes", "p must be a number"),
        (b"100;1;2;1", "line 4 has 1 column"),
    ],
)
def test_wrong_line_is_reported_with_its_byte(tmp_path, line, message):
    text = b"# note\nt_us,x,y,p\n90,1,2,1\n" + line + b"\n"
    with pytest.raises(FormatError, match=f"{message}.*after 1 event") as caught:
        read_text(tmp_path, text)
    assert caught.value.offset == text.index(line)
    assert len(read_text(tmp_path, text, on_error="truncate")) == 1


def test_cut_last_line_is_an_error(tmp_path):
    with pytest.raises(FormatError, match="line 3 is cut short by the end of the text"):
        read_text(tmp_path, b"t,x,y,p\n90,1,2,1\n100,1,")


def test_round_trip_keeps_labels(tmp_path, make_events):
    events = make_events(1000)
    events = events.with_signal(events.x % 2 == 0)
    evcrisp.write(tmp_path / "a.csv", events)
    assert (tmp_path / "a.csv").read_bytes().splitlines()[1] == b"t,x,y,p,signal"
    assert evcrisp.read(tmp_path / "a.csv").equals(events)


def test_partial_labels_are_refused(tmp_path, make_events):
    first, second = make_events(5), make_events(5, t_start=2_000_000)
    with pytest.raises(evcrisp.ConfigError, match="Either all events or none must have labels"):
        evcrisp.write(tmp_path / "a.csv", [first, second.with_signal([1] * 5)])


def test_numpy_and_arrow_read_written_files(tmp_path, make_events):
    events = make_events(200)
    evcrisp.write(tmp_path / "a.csv", events)
    rows = np.loadtxt(tmp_path / "a.csv", delimiter=",", skiprows=2, dtype=np.int64)
    np.testing.assert_array_equal(rows, np.stack([events.t, events.x, events.y, events.p], axis=1))
    arrow = pytest.importorskip("pyarrow.csv", reason="pyarrow is an oracle here")
    table = arrow.read_csv(tmp_path / "a.csv", read_options=arrow.ReadOptions(skip_rows=1))
    assert table.column_names == ["t", "x", "y", "p"]
    np.testing.assert_array_equal(table["t"].to_numpy(), events.t)


@pytest.mark.parametrize("resolution", [(1, 1), (65_536, 65_536)])
def test_round_trip_keeps_no_events_and_extreme_sensors(tmp_path, resolution):
    empty = Events.empty(resolution)
    evcrisp.write(tmp_path / "a.csv", empty)
    assert evcrisp.read(tmp_path / "a.csv").equals(empty)
    far = Events(
        x=[resolution[0] - 1] * 2,
        y=[resolution[1] - 1] * 2,
        t=[-(2**53), 2**62 - 1],
        p=[0, 1],
        resolution=resolution,
    )
    evcrisp.write(tmp_path / "b.csv", far)
    assert evcrisp.read(tmp_path / "b.csv").equals(far)


def test_other_text_is_not_recognized(tmp_path):
    (tmp_path / "poem.md").write_text(
        "Once upon a midnight dreary,\nwhile I pondered, weak and weary,\n"
    )
    with pytest.raises(FormatError, match="no format recognizes the content"):
        evcrisp.read(tmp_path / "poem.md")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("3,1,7,100", "line 101 is wrong: p must be 0/1"),
        ("70000,1,1,100", "line 101 is wrong: x must be in 0..65535"),
        ("3,1,1", "line 101 has 3 columns"),
        ("3,1,1,x", "line 101 is wrong: t must be a number"),
        ("3,1,1,50", "time decreases from 99 to 50 us"),
    ],
)
def test_wrong_line_does_not_hide_the_order_of_the_columns(tmp_path, line, message):
    lines = [f"{3 + t % 7},{t % 5},{t % 2},{t}" for t in range(100)] + [line, "4,1,1,200"]
    text = "\n".join(lines).encode()
    with pytest.raises(FormatError, match=f"{message}.*after 100 events"):
        read_text(tmp_path, text, format="csv")
    assert read_text(tmp_path, text, on_error="truncate", format="csv").t.tolist() == list(
        range(100)
    )


@pytest.mark.parametrize(
    "content", [bytes(100_000), b"\xff" * 70_000, b"x" * 70_000, b"t,x,y,p\n" + bytes(60_000)]
)
@pytest.mark.parametrize("name", ["csv", "ecd"])
def test_error_messages_are_short_for_any_content(tmp_path, content, name):
    with pytest.raises(FormatError) as caught:
        read_text(tmp_path, content, format=name)
    assert len(str(caught.value)) < 400 + len(str(tmp_path))


def test_long_column_name_is_shortened(tmp_path):
    with pytest.raises(FormatError, match="no column for 'x'") as caught:
        read_text(tmp_path, b"t" * 50_000 + b",y,p\n1,2,3\n", format="csv")
    assert len(str(caught.value)) < 400 + len(str(tmp_path))


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".txt", ".txt.gz", ".zip"])
@pytest.mark.parametrize("n_parts", [2, 40])
def test_bytes_do_not_depend_on_the_chunks(tmp_path, make_events, suffix, n_parts, monkeypatch):
    monkeypatch.setattr("evcrisp.io.text.event_text._WRITE_BYTES", 10_000)
    events = make_events(20_000, resolution=(240, 180))
    bounds = np.linspace(0, len(events), n_parts + 1).astype(int)
    evcrisp.write(tmp_path / f"whole{suffix}", events)
    parts = [events[a:b] for a, b in pairwise(bounds)]
    evcrisp.write(tmp_path / f"parts{suffix}", parts)
    whole = (tmp_path / f"whole{suffix}").read_bytes()
    assert (tmp_path / f"parts{suffix}").read_bytes() == whole
    assert evcrisp.read(tmp_path / f"whole{suffix}", resolution=(240, 180)).equals(events)


def test_error_for_a_microseconds_column_does_not_suggest_seconds(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"t_us,x,y,p\n1000.5,1,1,1\n")
    with pytest.raises(FormatError, match="t must be whole microseconds") as caught:
        evcrisp.read(path, resolution=(8, 8))
    assert "name its column" not in str(caught.value)


def test_huge_number_does_not_change_the_unit_to_seconds(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"t,x,y,p\n1000,1,1,1\n" + b"9" * 400 + b",1,1,1\n")
    events = evcrisp.read(path, resolution=(8, 8), on_error="truncate")
    assert events.t.tolist() == [1000]
