"""AEDAT4 files that are joined without decoding them."""

import itertools

import pytest

import evcrisp
from evcrisp.core.errors import FormatError
from evcrisp.io.aedat.aedat4_writer import Aedat4Writer
from evcrisp.io.writing import ChunkWriter

CUTS = (0, 20_000, 20_000, 20_003, 50_000)


@pytest.mark.parametrize("compression", ["lz4", "zstd", "none"])
def test_joined_parts_have_the_bytes_of_parts_in_one_file(tmp_path, make_events, compression):
    events = make_events(CUTS[-1], resolution=(80, 60))
    writer = Aedat4Writer(compression=compression)
    pieces = [events[a:b] for a, b in itertools.pairwise(CUTS)]
    whole, joined = tmp_path / "whole.aedat4", tmp_path / "joined.aedat4"
    with ChunkWriter(whole, writer) as file:
        for piece in pieces:
            file.write(piece)
            file.end_part()
    with ChunkWriter(joined, writer) as file:
        for number, piece in enumerate(pieces):
            part = tmp_path / f"{number}.aedat4"
            with ChunkWriter(part, writer) as own:
                own.write(piece)
            file.append_part(part, piece.resolution, has_signal=False)
    assert joined.read_bytes() == whole.read_bytes()
    assert evcrisp.read(joined).equals(events)
    with evcrisp.open(joined) as recording:
        assert recording.n_indexed == CUTS[-1]
        assert recording.time_of(20_001) == events.t[20_001]


def test_part_without_its_table_is_refused(tmp_path, make_events):
    events = make_events(1000, resolution=(80, 60))
    evcrisp.write(tmp_path / "part.aedat4", events)
    data = (tmp_path / "part.aedat4").read_bytes()
    (tmp_path / "part.aedat4").write_bytes(data[:-10])
    with (
        pytest.raises(FormatError, match="data table"),
        ChunkWriter(tmp_path / "joined.aedat4", Aedat4Writer()) as file,
    ):
        file.append_part(tmp_path / "part.aedat4", (80, 60), has_signal=False)


def test_labels_that_are_left_out_are_said_once(tmp_path, make_events, caplog):
    part = tmp_path / "part.aedat4"
    evcrisp.write(part, evcrisp.Events(x=[1], y=[2], t=[3], p=[0], resolution=(80, 60)))
    with ChunkWriter(tmp_path / "joined.aedat4", Aedat4Writer()) as file:
        for _ in range(2):
            file.append_part(part, (80, 60), has_signal=True)
    assert caplog.text.count("does not keep labels") == 1
    assert evcrisp.read(tmp_path / "joined.aedat4").t.tolist() == [3, 3]


def test_parts_that_do_not_follow_in_time_are_refused(tmp_path, make_events):
    part = tmp_path / "part.aedat4"
    evcrisp.write(part, make_events(100, resolution=(80, 60)))
    with (
        pytest.raises(evcrisp.EventDataError, match="follow each other in time"),
        ChunkWriter(tmp_path / "joined.aedat4", Aedat4Writer()) as file,
    ):
        for _ in range(2):
            file.append_part(part, (80, 60), has_signal=False)
