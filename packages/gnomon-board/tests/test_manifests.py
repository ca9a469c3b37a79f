"""An announcement is refused with the first thing that is wrong, however much is."""

from __future__ import annotations

import json

import pytest

from submitted import bearer, register

LOG = {"log_sha256": "0" * 64, "log_bytes": 9}


def learner(**settings: object) -> dict[str, object]:
    return {"learner": {"kind": "uniform", "name": "x"} | settings}


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (b"{", "JSON decode error"),
        (b"[" * 100_000, "There was an error parsing the body"),
        (b"[]", "body: Input should be"),
        (LOG, "body.learner: Field required"),
        (learner(), "body.log_sha256: Field required"),
        (LOG | learner() | {f"k{n}": 1 for n in range(20)}, "body.k0: Extra inputs"),
        (LOG | {"learner": "x"}, "body.learner: Input should be"),
        (LOG | {"learner": {"name": "x"}}, "body.learner.kind: Field required"),
        (LOG | learner(kind="rule_player"), "the learner 'rule_player' was shown the rule"),
        (LOG | learner(reveal=True), "the learner 'uniform' was shown the rule"),
        (LOG | learner(name="\x00"), "body.learner.name: String should match"),
        (LOG | learner(name="\ud800"), "body.learner.name: Input should be a valid string"),
        (LOG | {"log_bytes": 0} | learner(), "body.log_bytes: Input should be greater"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(client, season, token, sent, expected):
    register(client, token, "Mine")
    data = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
    headers = bearer(token) | {"Content-Type": "application/json"}
    answer = client.put("/api/entries/1/attempts/1/submission", content=data, headers=headers)
    assert answer.status_code in (400, 422)
    assert expected in answer.json()["detail"]
    assert len(answer.json()["detail"]) < 300
