"""Kernels of event text against their oracle, including the byte and column of an error."""

import numpy as np
import pytest
from tests.oracles.io import text as oracle

from evcrisp.kernels.io import text as kernel

T, X, Y, P, SIGNAL, IGNORED = (
    kernel.TIME,
    kernel.X,
    kernel.Y,
    kernel.POLARITY,
    kernel.SIGNAL,
    kernel.IGNORED,
)

TIMES = [
    *(
        "0",
        "1",
        "0.0",
        "2.097134001",
        "2.09714",
        "49.0066240005",
        "49.00662400049999999999",
        "1e-05",
    ),
    *("1.5e-05", "1.5E+1", "123456789.123456789", "9223372036854.775807", "9223372036854.775808"),
    *(
        "9223372036854775807",
        "9223372036854775808",
        "99999999999999999999",
        "-1",
        "-0.0000005",
        "+3",
    ),
    *(
        ".5",
        "5.",
        "0.0000004999999999999999999999",
        "0.00000050",
        "1e30",
        "1e-30",
        "0e99",
        "1e9999",
    ),
    *("000000000000000000000000000012.5", "12.000000000000000000000000000000000001"),
]
PIXELS = [
    "0",
    "5",
    "239",
    "65535",
    "65536",
    "-1",
    "1.0",
    "1.5",
    "1e2",
    "2.39e+02",
    "007",
    "99999999999999",
]
FLAGS = ["0", "1", "-1", "+1", "2", "-2", "True", "false", "TRUE", "tree", "1.0", "t", "0.5"]
JUNK = [
    "",
    "x",
    "1e",
    "1e+",
    "--1",
    "+-1",
    "1.2.3",
    "12b",
    "nan",
    "inf",
    ".",
    "-",
    "1,2",
    "0x10",
    "\xff",
]
LINES = ["", "  ", "\r", "# note", "  % note", "#"]


def parse(text, roles, delimiter, time_exponent, n=64):
    columns = {
        T: np.zeros(n, np.int64),
        X: np.zeros(n, np.uint16),
        Y: np.zeros(n, np.uint16),
        P: np.zeros(n, np.bool_),
        SIGNAL: np.zeros(n, np.bool_),
    }
    state = np.zeros(5, np.int64)
    kernel.parse_events(
        np.frombuffer(text, np.uint8),
        np.array(roles, np.int64),
        delimiter,
        time_exponent,
        *columns.values(),
        state,
    )
    rows = [
        {role: columns[role][row].item() for role in roles if role != IGNORED}
        for row in range(state[1])
    ]
    offset, _, lines, status, column = state.tolist()
    return rows, status, column, offset, lines


def random_field(rng, role, odd):
    pool = {T: TIMES, X: PIXELS, Y: PIXELS, P: FLAGS, SIGNAL: FLAGS, IGNORED: [*TIMES, "abc", "x"]}[
        role
    ]
    if rng.random() < odd:
        return str(rng.choice(JUNK if rng.random() < 0.3 else pool))
    plain = {T: f"{rng.integers(0, 99)}.{rng.integers(0, 10**9):09d}", P: "1", SIGNAL: "0"}
    return plain.get(role, str(rng.integers(0, 240)))


def random_text(rng, roles, delimiter, odd):
    lines = []
    for _ in range(rng.integers(1, 12)):
        if rng.random() < odd:
            lines.append(str(rng.choice(LINES)))
            continue
        fields = [random_field(rng, role, odd) for role in roles]
        if rng.random() < odd / 3:
            fields = fields[:-1] if rng.random() < 0.5 else [*fields, "7"]
        gaps = [" ", "  ", "\t", " \t "] if delimiter == 32 else [",", " ,", ", ", "\t,"]
        gap = str(rng.choice(gaps)) if rng.random() < odd else gaps[0]
        lines.append(gap.join(fields) + str(rng.choice(["", "", "\r", " "])))
    return ("\n".join(lines) + "\n").encode("latin-1")


@pytest.mark.parametrize("odd", [0.0, 0.03, 0.3])
@pytest.mark.parametrize("delimiter", [32, 44])
@pytest.mark.parametrize("time_exponent", [6, 0])
@pytest.mark.parametrize("roles", [(T, X, Y, P), (X, IGNORED, P, T, Y, SIGNAL)])
def test_parsing_matches_oracle(roles, time_exponent, delimiter, odd):
    rng = np.random.default_rng(5)
    for _ in range(250):
        text = random_text(rng, roles, delimiter, odd)
        expected = oracle.parse_events(text, roles, delimiter, time_exponent)
        got = parse(text, roles, delimiter, time_exponent)
        if expected[1] == kernel.OK:
            expected, got = (expected[0], *expected[3:]), (got[0], *got[3:])
        assert got == expected, text


@pytest.mark.parametrize("time", [*TIMES, *JUNK])
@pytest.mark.parametrize("time_exponent", [6, 0])
def test_all_notations_of_time_match_oracle(time, time_exponent):
    text = f"{time} 1 2 1\n".encode("latin-1")
    expected = oracle.parse_events(text, (T, X, Y, P), 32, time_exponent)
    got = parse(text, (T, X, Y, P), 32, time_exponent)
    assert (got[0], got[1], got[3]) == (expected[0], expected[1], expected[3])


def test_parsing_stops_at_full_columns_and_continues():
    text = b"".join(b"%d.5 %d 0 1\n" % (k, k) for k in range(10))
    data, roles = np.frombuffer(text, np.uint8), np.array([T, X, Y, P])
    t, x, y = np.zeros(4, np.int64), np.zeros(4, np.uint16), np.zeros(4, np.uint16)
    p, signal = np.zeros(4, np.bool_), np.zeros(0, np.bool_)
    state, seen = np.zeros(5, np.int64), []
    while state[0] < data.size:
        state[1] = 0
        kernel.parse_events(data, roles, 32, 6, t, x, y, p, signal, state)
        seen += x[: state[1]].tolist()
    assert seen == list(range(10))
    assert state[2] == 10


@pytest.mark.parametrize("labeled", [False, True])
@pytest.mark.parametrize(("delimiter", "decimals"), [(32, 6), (44, 0)])
def test_writing_matches_oracle(labeled, delimiter, decimals):
    rng = np.random.default_rng(3)
    limits = np.iinfo(np.int64)
    t = np.array(
        [limits.min, -1_000_000, -1, 0, 7, 999_999, 1_000_000, 2**53, limits.max], np.int64
    )
    t = np.concatenate([t, rng.integers(-(10**12), 10**12, 200)])
    x, y = (rng.integers(0, 65_536, t.size).astype(np.uint16) for _ in range(2))
    p = rng.integers(0, 2, t.size).astype(bool)
    signal = rng.integers(0, 2, t.size if labeled else 0).astype(bool)
    out = np.zeros(t.size * kernel.MAX_LINE_BYTES, np.uint8)
    n = kernel.format_events(t, x, y, p, signal, delimiter, decimals, out)
    assert out[:n].tobytes() == oracle.format_events(t, x, y, p, signal, delimiter, decimals)
