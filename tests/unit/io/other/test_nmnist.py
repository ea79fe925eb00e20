"""N-MNIST: five-byte words."""

import numpy as np
import pytest

import evcrisp
from evcrisp import FormatError


def word(t, x, y, p):
    return bytes([x, y, p << 7 | t >> 16, t >> 8 & 0xFF, t & 0xFF])


def read(tmp_path, content, **options):
    (tmp_path / "a.bin").write_bytes(content)
    return evcrisp.read(tmp_path / "a.bin", **options)


def test_words_become_events(tmp_path):
    rows = [(0, 0, 33, 1), (70_000, 33, 0, 0), (2**23 - 1, 5, 7, 1)]
    events = read(tmp_path, b"".join(word(*row) for row in rows))
    assert events.resolution == (34, 34)
    assert list(zip(events.t, events.x, events.y, events.p, strict=True)) == rows


def test_overflow_words_add_time_without_events(tmp_path, monkeypatch):
    content = word(10, 1, 1, 1) + word(0, 0, 240, 0) + word(20, 2, 2, 1)
    content += word(0, 0, 240, 0) * 2 + word(30, 3, 3, 0)
    expected = [10, 20 + 2**13, 30 + 3 * 2**13]
    assert read(tmp_path, content, resolution=(34, 34)).t.tolist() == expected
    monkeypatch.setattr("evcrisp.io.byte_blocks.PACKET_EVENTS", 2)
    assert read(tmp_path, content, resolution=(34, 34)).t.tolist() == expected


def test_larger_sensors_with_the_same_words_are_guessed(tmp_path):
    assert read(tmp_path, word(1, 200, 170, 1)).resolution == (240, 180)


@pytest.mark.parametrize("n_lost", range(1, 5))
def test_cut_word_is_an_error_after_the_others(tmp_path, n_lost):
    content = b"".join(word(t, 1, 2, 1) for t in range(20))[:-n_lost]
    with pytest.raises(
        FormatError, match="the file ends within an event.*byte 95, after 19 events"
    ):
        read(tmp_path, content)
    assert len(read(tmp_path, content, on_error="truncate")) == 19


def test_any_bytes_give_events_or_a_format_error(tmp_path):
    rng = np.random.default_rng(0)
    for n in (1, 5, 7, 100, 1000):
        events = read(tmp_path, rng.bytes(n), resolution=(256, 256), on_error="truncate")
        assert len(events) <= n // 5


def test_late_event_outside_the_small_sensor_is_not_damage(tmp_path):
    content = b"".join(word(t, t % 34, 3, 1) for t in range(5000)) + word(5000, 200, 170, 1)
    events = read(tmp_path, content)
    assert len(events) == 5001
    assert events.resolution == (240, 180)


def test_overflow_words_do_not_hide_the_small_sensor(tmp_path, caplog):
    content = word(10, 1, 1, 1) + word(0, 0, 240, 0) + word(20, 33, 33, 1)
    assert read(tmp_path, content).resolution == (34, 34)
    assert not caplog.records


def test_size_of_a_large_file_is_guessed_from_all_of_it(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("evcrisp.io.other.nmnist._SMALL_BYTES", 100)
    content = b"".join(word(t, 3, 3, 1) for t in range(50))
    assert read(tmp_path, content).resolution == (34, 34)
    assert "does not state its sensor size; taking 34x34" in caplog.text
