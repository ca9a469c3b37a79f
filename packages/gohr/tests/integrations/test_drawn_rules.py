"""Rules to train on: by number and seed, and never in both halves, however they are written."""

from __future__ import annotations

import pytest

from gnomon.errors import GnomonError, UnknownNameError
from gohr.experiments import RuleEntry
from gohr.integrations import drawn_rule, is_of, rungs_of


def test_a_number_and_a_seed_make_a_rule():
    assert drawn_rule(7, seed=3) == drawn_rule(7, seed=3)
    rules = [drawn_rule(n, seed=seed)[1].text for seed in (3, 4) for n in range(24)]
    assert len(set(rules)) > 40
    assert [drawn_rule(n, seed=3)[0] for n in (0, 4, 8)] == ["feature", "position", "order"]


def test_a_half_has_a_rule_whatever_the_order_of_its_lists_and_atoms():
    ways = (
        "(*, [star,circle], *, *, 3) (*, [square,triangle], *, *, 0)",
        "(*, [triangle,square], *, *, 0) (*, [circle,star], *, *, 3)",
    )
    assert len({is_of("eval", RuleEntry("x", text)) for text in ways}) == 1
    for split in ("train", "eval"):
        assert all(is_of(split, drawn_rule(n, seed=1, split=split)[1]) for n in range(48))


def test_wrong_rungs_and_nothing_left():
    with pytest.raises(UnknownNameError, match="unknown rung 'colour'"):
        rungs_of(["colour"])
    order = [family for _, family, _ in rungs_of(["order"])]
    with pytest.raises(GnomonError, match="expected families with rules for 'eval', found none"):
        drawn_rule(0, seed=1, split="eval", rungs=["order"], leave_out=order)
