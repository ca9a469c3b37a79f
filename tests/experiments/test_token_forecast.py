"""The forecast of tokens: what a stand-in is told is what a model that plays alike is told."""

from __future__ import annotations

import json

import pytest

import gnomon as gn
from gnomon.experiments import forecast

pytestmark = pytest.mark.full  # the ideal learner's hypotheses

MODEL = {"kind": "language_model", "name": "m", "model": "some-model", "max_tokens": 50}
PRICE = {"model": "some-model", "input": 2.0, "output": 8.0}


def costs(tmp_path, **changes):
    config = gn.ExperimentConfig(
        "x", ["color-match", "clockwise"], [MODEL | changes], trials=1, episodes=3, prices=[PRICE]
    )
    [cost] = forecast(config, tmp_path / "run").learners
    assert cost.source == "not asked"
    return cost.asking


def test_requests_are_the_attempts_of_the_stand_ins(tmp_path):
    asking = costs(tmp_path)
    n = []
    for kind in ("ideal", "frugal"):
        native = gn.ExperimentConfig(
            "x", ["color-match", "clockwise"], [kind], trials=1, episodes=3
        )
        run = gn.run(native, tmp_path / kind)
        n.append(sum(record.n_attempts for record in run.folder.trials()) / 2)
    assert asking.requests == pytest.approx(n)
    assert asking.tokens_out == pytest.approx((12 * n[0], 50 * n[1]))
    assert asking.money == pytest.approx(
        [(2 * i + 8 * o) / 1e6 for i, o in zip(asking.tokens_in, asking.tokens_out, strict=True)]
    )


def test_a_conversation_without_a_price_has_no_money(tmp_path):
    memory = costs(tmp_path)
    talk = costs(tmp_path, mode="conversation", model="other")
    assert talk.money is None
    assert talk.requests == memory.requests
    assert talk.tokens_in[0] > memory.tokens_in[0]  # the boards are told again and again
    assert json.dumps(talk.tokens_in)
