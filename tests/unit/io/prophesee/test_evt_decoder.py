"""Decoders without files: pieces of any size, time base, triggers."""

import numpy as np
import pytest

from evcrisp.io.prophesee.evt_decoder import Evt2Decoder, Evt3Decoder, Evt21Decoder

WORDS = np.array([0x8001, 0x6005, 0x0007, 0x2803, 0xA101, 0x3810, 0x4003, 0x6006, 0xA200], "<u2")


def test_time_base_is_added_to_events_and_triggers():
    decoder = Evt3Decoder(t_base=1_000_000)
    assert decoder.decode(WORDS).t.tolist() == [1_004_101] * 3
    assert decoder.triggers().t.tolist() == [1_004_101, 1_004_102]


def test_words_may_come_one_by_one():
    whole, single = Evt3Decoder(), Evt3Decoder()
    columns = whole.decode(WORDS)
    parts = [single.decode(WORDS[i : i + 1]) for i in range(WORDS.size)]
    for column, pieces in zip(columns, zip(*parts, strict=True), strict=True):
        assert np.array_equal(column, np.concatenate(pieces))
    assert np.array_equal(whole.triggers().t, single.triggers().t)


def test_bytes_of_a_message_are_decoded_without_a_copy():
    x, y, t, p = Evt3Decoder().decode(np.frombuffer(WORDS.tobytes(), Evt3Decoder.word_dtype))
    assert (x.tolist(), y.tolist(), p.tolist()) == ([3, 16, 17], [7, 7, 7], [True, True, True])
    assert all(column.flags.c_contiguous for column in (x, y, t, p))


def test_triggers_are_collected_over_all_pieces():
    decoder = Evt3Decoder()
    for _ in range(3):
        decoder.decode(WORDS)
    triggers = decoder.triggers()
    assert triggers.kind.tolist() == [1, 2] * 3
    assert triggers.channel.tolist() == [1, 2] * 3
    assert (triggers.kind.dtype, triggers.channel.dtype) == (np.uint8, np.uint8)


def test_triggers_are_dropped_on_request():
    decoder = Evt3Decoder(keep_triggers=False)
    decoder.decode(WORDS)
    assert len(decoder.triggers()) == 0
    assert decoder.has_triggers(WORDS)


@pytest.mark.parametrize("kind", [Evt2Decoder, Evt3Decoder, Evt21Decoder])
def test_no_words_give_no_events(kind):
    decoder = kind()
    assert [column.size for column in decoder.decode(np.empty(0, kind.word_dtype))] == [0] * 4
    assert len(decoder.triggers()) == 0
    assert (decoder.n_lost, decoder.n_reserved) == (0, 0)


def test_pieces_are_bounded_and_give_the_same_events():
    words = np.array([0x8001, 0x0007, *([0x3000] + [0x4FFF] * 20) * 50], "<u2")
    parts = list(Evt3Decoder().pieces(words, 100))
    assert max(part.t.size for part in parts) <= 100
    x = np.concatenate([part.x for part in parts])
    assert np.array_equal(x, Evt3Decoder().decode(words).x)
