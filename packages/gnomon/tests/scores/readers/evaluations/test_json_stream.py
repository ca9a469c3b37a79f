"""Streams of JSON: the same values as from the parser of the standard library, in any pieces."""

import io
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.errors import ScoreDataError
from gnomon.scores.readers import json_stream
from gnomon.scores.readers.json_stream import array_elements, json_lines, object_members

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(json_stream, "_CHUNK", 3)


def stream(value, indent):
    return io.BytesIO(json.dumps(value, indent=indent, ensure_ascii=False).encode())


@settings(max_examples=40)
@given(st.lists(VALUES), st.sampled_from([None, 2]))
def test_elements_are_those_of_the_array(values, indent):
    assert list(array_elements(stream(values, indent), "a")) == values


@settings(max_examples=40)
@given(st.dictionaries(st.text(), VALUES), st.sampled_from([None, 2]))
def test_members_are_those_of_the_object(members, indent):
    assert dict(object_members(stream(members, indent), "a")) == members


@settings(max_examples=40)
@given(st.dictionaries(st.text(), VALUES), st.lists(VALUES))
def test_elements_of_one_member_come_one_by_one(members, samples):
    whole = members | {"samples": samples}
    found = list(object_members(stream(whole, None), "a", elements_of="samples"))
    assert [value for key, value in found if key == "samples"] == samples
    assert {key for key, _ in found} >= members.keys() - {"samples"}


@settings(max_examples=40)
@given(st.lists(VALUES, min_size=1), st.data())
def test_what_is_cut_off_is_told(values, data):
    text = json.dumps(values).encode()
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    with pytest.raises(ScoreDataError, match=r"^a: expected JSON"):
        list(array_elements(io.BytesIO(cut), "a"))


def test_nan_and_what_is_no_utf8():
    (found,) = array_elements(io.BytesIO(b"[NaN]"), "a")
    assert math.isnan(found)
    with pytest.raises(ScoreDataError, match="a: expected JSON; 'utf-8' codec can't decode"):
        list(array_elements(io.BytesIO(b'["\xff"]'), "a"))


def test_lines_are_named(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n\n{"a": \n')
    lines = json_lines(path)
    assert next(lines) == {"a": 1}
    with pytest.raises(ScoreDataError, match=r"a\.jsonl, line 3: expected JSON"):
        next(lines)
    path.write_text("[1]\n")
    with pytest.raises(ScoreDataError, match="line 1: expected a JSON object, found list"):
        next(json_lines(path))
    with pytest.raises(ScoreDataError, match="cannot read this file: No such file"):
        next(json_lines(tmp_path / "none"))
