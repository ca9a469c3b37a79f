"""A manifest is refused with the first thing that is wrong, however much is."""

from __future__ import annotations

import json

import pytest

from gnomon_board.errors import Refusal
from gnomon_board.submissions import read_manifest

ROW = {"rule": "clockwise", "trial": 0, "tce": 1}


def test_what_was_sent_is_told():
    sent = {"learner": "x", "config": {"seed": 1}, "totals": [ROW, ROW | {"trial": 1, "tce": None}]}
    record = read_manifest(json.dumps(sent).encode()).to_record()
    assert {name: record[name] for name in sent} == sent


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (b"{", "expected JSON"),
        (b"[" * 100_000, "expected JSON"),
        (b"[]", "manifest: Input should be a valid dictionary"),
        ({}, "field 'learner'"),
        ({"learner": "x", "speed": 1}, "field 'speed'"),
        (
            {"learner": "x"} | {f"k{n}": 1 for n in range(20)},
            "'k0': expected one of format",
        ),
        ({"learner": "x", "totals": 3}, "field 'totals'"),
        ({"learner": "x", "totals": [ROW, 3]}, "field 'totals.1': Input"),
        ({"learner": "x", "totals": [ROW, ROW | {"tce": "many"}]}, "field 'totals.1.tce'"),
        ({"learner": "x", "totals": [ROW | {f"k{n}": 1 for n in range(9)}]}, "'totals.0.k0'"),
        ({"learner": "x", "totals": [{}] * 100_001}, "at most 100,000 trials, found 100,001"),
        ({"learner": "x", "config": {"a": [0] * 10_000}}, "expected at most 10,000 values"),
        ({"learner": "x", "config": {"a": float("nan")}}, "expected finite numbers, found nan"),
        ({"learner": "x", "config": {"a": "\x00"}}, "expected text without null characters"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(sent, expected):
    data = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
    with pytest.raises(Refusal) as refused:
        read_manifest(data)
    assert expected in str(refused.value)
    assert len(str(refused.value)) < 300
