"""A manifest is refused with the first thing that is wrong, however much is."""

from __future__ import annotations

import json

import pytest

from gnomon.leaderboard.refusals import Refusal
from gnomon.leaderboard.submissions.manifest import read_manifest

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
        (b"[]", "field ''"),
        ({}, "field 'learner'"),
        ({"learner": "x", "speed": 1}, "field 'speed'"),
        ({"learner": "x"} | {f"k{n}": 1 for n in range(20)}, "field 'k0': expected no such field"),
        ({"learner": "x", "totals": 3}, "field 'totals'"),
        ({"learner": "x", "totals": [ROW, 3]}, "field 'totals.1.'"),
        ({"learner": "x", "totals": [ROW, ROW | {"tce": "many"}]}, "field 'totals.1.tce'"),
        ({"learner": "x", "totals": [ROW | {f"k{n}": 1 for n in range(9)}]}, "'totals.0.k0'"),
        ({"learner": "x", "totals": [{}] * 100_001}, "totals of at most 100,000 trials"),
        ({"learner": "x", "config": {"a": [0] * 10_000}}, "more than 10,000 values"),
        ({"learner": "x", "config": {"a": float("nan")}}, "number that is none"),
        ({"learner": "x", "config": {"a": "\x00"}}, "letters that are none"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(sent, expected):
    data = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
    with pytest.raises(Refusal) as refused:
        read_manifest(data)
    assert expected in str(refused.value)
    assert len(str(refused.value)) < 300
