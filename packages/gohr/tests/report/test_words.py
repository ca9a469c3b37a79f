"""Sentences say what the numbers say, also when they say little."""

from dataclasses import replace

import pytest

from gohr.run_page import Duel, findings_of
from gohr.run_page.sentences import difficulty_sentence, duel_sentence, order_of, trouble


@pytest.fixture(scope="module")
def findings(run_folder):
    return findings_of(run_folder, n_resamples=50)


def duels(*numbers):
    return tuple(Duel(f"r{i}", "a", "b", share, p) for i, (share, p) in enumerate(numbers, start=1))


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (duels((0.9, 1e-5)), "a makes fewer errors than b on r1 (p < 0.0001)."),
        (
            duels((0.9, 1e-5), (0.8, 0.012)),
            "a makes fewer errors than b on all 2 rules (p ≤ 0.012 each).",
        ),
        (
            duels((0.1, 1e-5), (0.2, 1e-5), (0.9, 1e-5)),
            "b makes fewer errors than a on r1 and r2 (p < 0.0001 each), a fewer on r3.",
        ),
        (
            duels((0.9, 1e-5), (0.5, 1.0)),
            "a makes fewer errors than b on r1 (p < 0.0001); undecided on r2.",
        ),
        (
            duels(*[(0.9, 1e-5)] * 6, *[(0.5, 1.0)] * 5),
            "a makes fewer errors than b on 6 rules (p < 0.0001 each); undecided on 5 rules.",
        ),
        (duels((0.5, 1.0)), "The trials do not separate a from b on r1."),
        (duels((0.5, 1.0), (0.6, 0.4)), "The trials do not separate a from b on any of 2 rules."),
        ((), "a and b share no rule."),
    ],
)
def test_who_is_better(findings, found, sentence):
    assert duel_sentence(replace(findings, duels=found), "a", "b") == sentence


def test_an_order_tells_what_is_decided(findings):
    assert order_of(findings, "uniform").startswith("b3-then-b1 > ")
    assert " ≈ " in order_of(findings, "rule_player")


def test_a_tie_is_not_called_hardest(findings):
    assert difficulty_sentence(findings, "rule_player").startswith(
        "For rule_player no rule stands out: the trials do not separate"
    )


def test_a_clean_run_has_no_trouble(findings):
    assert trouble(replace(findings, revealed=(), failed=(), missing={})) == ()
    assert trouble(replace(findings, revealed=(), missing={("a", "r"): 1})) == (
        "1 trial not played yet: 1 of a on r.",
    )


def test_of_many_gaps_the_first_are_named(findings):
    gaps = {(f"a{i}", "r"): 2 for i in range(60)}
    assert trouble(replace(findings, revealed=(), failed=(), missing=gaps)) == (
        "120 trials not played yet: 2 of a0 on r, 2 of a1 on r, 2 of a2 on r, 2 of a3 on r, "
        "2 of a4 on r, 2 of a5 on r and some of 54 other pairs.",
    )
