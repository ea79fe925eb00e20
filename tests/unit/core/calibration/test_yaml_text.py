"""The YAML parser agrees with PyYAML on what it accepts, and names the line of what it does not."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evcrisp.core.calibration.yaml_text import parse_yaml
from evcrisp.core.errors import ConfigError

yaml = pytest.importorskip("yaml", reason="PyYAML is the oracle")

#: Words that are no numbers and no special values: the first letter is no start of "yes" or "true".
WORDS = st.text("abc_/0.", max_size=6).map("w{}w".format)
NUMBERS = st.integers(-(10**9), 10**9) | st.integers(-(10**9), 10**9).map(lambda n: n / 1024)
SCALARS = WORDS | NUMBERS | st.booleans() | st.none()
LISTS = st.lists(SCALARS, min_size=1, max_size=4)
GROUPS = st.dictionaries(WORDS, SCALARS | LISTS, min_size=1, max_size=3)
VALUES = SCALARS | LISTS | GROUPS | st.lists(LISTS | GROUPS, min_size=1, max_size=3)


@settings(deadline=None)
@given(st.dictionaries(WORDS, VALUES, min_size=1, max_size=5), st.sampled_from([None, True, False]))
def test_content_of_a_dump_is_read_back(content, flow_style):
    text = yaml.safe_dump(content, default_flow_style=flow_style, width=60)
    assert parse_yaml(text) == content


@pytest.mark.parametrize(
    "text",
    [
        "a: [1, 2.5,\n   -3.0e-2, .5, 5.]\nb: 'it''s'\n",
        'a: "x # y"  # comment\n# b: 1\nc: d # e\n',
        "a:\n- 1\n- 2\nb:\n  - - 1\n    - 2\n  - - 3\n    - 4\n",
        "a:\n  - x: 1\n    y: [1, 2]\n  - x: 2\n",
        "---\na: {b: 1, c: [x, y]}\n...\n",
        'a: .inf\nb: -.inf\n"c d": 1\n',
        '{"a": [1, 2], "b": {"c": "d"}}',
        "a:\nb: ~\nc:\n",
        "- 1\n- [2, 3]\n",
        "stamp: 12:30\nurl: http://x/y\n",
    ],
)
def test_text_is_read_as_by_pyyaml(text):
    expected = yaml.safe_load(text)
    if "12:30" in text:  # a number of base 60 in YAML 1.1, which nobody means
        expected["stamp"] = "12:30"
    assert parse_yaml(text) == expected


def test_exponent_needs_no_decimal_point():
    """PyYAML returns a word, as YAML 1.1 demands; Kalibr and OpenCV mean a number."""
    assert yaml.safe_load("a: 1e-05") == {"a": "1e-05"}
    assert parse_yaml("a: 1e-05\nb: [-2E+3]") == {"a": 1e-05, "b": [-2000.0]}


def test_directive_and_tags_of_opencv_are_ignored():
    text = "%YAML:1.0\n---\nm: !!opencv-matrix\n   rows: 1\n   data: [ 1., 2.,\n       3. ]\n"
    assert parse_yaml(text) == {"m": {"rows": 1, "data": [1.0, 2.0, 3.0]}}
    assert math.isnan(parse_yaml("a: .Nan")["a"])


def test_only_the_first_document_is_read():
    assert parse_yaml("a: 1\n---\na: 2\n") == {"a": 1}
    assert parse_yaml("") is None
    assert parse_yaml("# nothing\n---\n") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\n\tb: 2\n", "line 2 is indented with a tab"),
        ("a: 1\n  b: 2\n", "line 2 is indented differently"),
        ("a: [1, 2\nb: 3\n", "line 1 opens a bracket that is not closed"),
        ("a: 1]\n", "line 1 closes a bracket"),
        ("a: [1 [2]]\n", "line 1 needs a comma"),
        ("a: [1, 2] 3\n", "line 1 has text after"),
        ("a: [1}\n", "brackets that do not match"),
        ("a: {b, c}\n", r"must be `\{key: value"),
        ("a: [1, , 2]\n", "has ',' where a value must be"),
        ("a: 1\njust words\n", "line 2 must be `key: value`"),
        ("a: 1\na: 2\n", "line 2 repeats the key 'a'"),
        ("a: &x 1\n", "'&', which is not supported"),
        ("a: |\n  text\n", "which is not supported"),
        ("a: " + "[" * 30 + "]" * 30, "do not match"),
        ("- " * 30 + "1", "nested more than 20"),
    ],
)
def test_error_names_the_line(text, message):
    with pytest.raises(ConfigError, match=message):
        parse_yaml(text)


@settings(deadline=None)
@given(st.text("ab:-[]{},'\"# \n.1e&", max_size=60))
def test_any_text_is_read_or_refused(text):
    try:
        parse_yaml(text)
    except ConfigError as error:
        assert "line " in str(error)  # noqa: PT017 - both ends are right
