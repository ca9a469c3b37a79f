"""The AAI family: against sums written out, and against what a random player must score."""

from __future__ import annotations

import numpy as np
import pytest

import gnomon
from gnomon.errors import DegenerateScoresWarning
from gnomon.experiments import (
    ATTEMPT_METRICS,
    TrialAttempts,
    aai_curves,
    corrected_success,
    score_trial,
)
from gnomon.experiments.scoring.attempt_scores import AAI_FAMILY
from gnomon.game import DEFAULT_SPEC, draw_boards
from gnomon.learners import make_learner, play_trial


def written_out(good, p0, mu, episode) -> dict[str, float]:
    """The definitions, one attempt after another, at the end of a series."""
    w = sum(not g for g in good)
    q = sum(good)
    m = len(good)
    expected = sum(1 - p for p in p0)
    boards = [i for i in range(m) if i == 0 or good[i - 1] or episode[i] != episode[i - 1]]
    first = [max(b for b in boards if b <= i) for i in range(m)]
    omega = 0.0
    for a, b in zip(boards, [*boards[1:], m], strict=True):
        failed = sum(not g for g in good[a:b])
        odds = sum(1 - p for p in p0[a:b])
        omega += failed * sum(p0[a:b]) / odds if odds else 0.0
    last = max((i for i in range(m) if not good[i]), default=None)
    aaie = aaid = 0.0
    if last is not None:
        q_then = sum(good[: last + 1])
        aaie = w / sum(1 - p for p in p0[: last + 1]) * q_then
        aaid = w / sum(1 - p for p, g in zip(p0, good, strict=True) if not g) * q_then
    return {
        "aai": w / expected,
        "aaib": w / expected * m,
        "aaic": w / expected * q,
        "aaid": aaid,
        "aaie": aaie,
        "aaig": w / sum(mu[i] - 1 for i in boards) * q,
        "aaih": sum(1 / (mu[first[i]] - 1) for i in range(m) if not good[i] and mu[first[i]] > 1),
        "omega": omega,
        "omega_by_attempt": sum(p / (1 - p) for p, g in zip(p0, good, strict=True) if not g),
    }


@pytest.mark.parametrize("seed", range(5))
def test_as_the_definitions_say(seed):
    rng = np.random.default_rng(seed)
    good = rng.random(40) < 0.4
    p0 = rng.uniform(0.1, 0.9, 40)
    episode = np.sort(rng.integers(0, 4, 40))
    curves = aai_curves(good, p0, 1 / p0, episode=episode)
    expected = written_out(good.tolist(), p0.tolist(), (1 / p0).tolist(), episode.tolist())
    assert set(curves) == set(AAI_FAMILY)
    assert {name: curve[-1] for name, curve in curves.items()} == pytest.approx(expected)


def test_what_holds_after_each_attempt_holds_of_the_shorter_series():
    rng = np.random.default_rng(1)
    good, p0 = rng.random(30) < 0.5, rng.uniform(0.1, 0.9, 30)
    whole, half = aai_curves(good, p0, 1 / p0), aai_curves(good[:15], p0[:15], 1 / p0[:15])
    for name in AAI_FAMILY:
        np.testing.assert_allclose(whole[name][:15], half[name])


def played(kind: str, rule: str = "color-match", n: int = 300) -> TrialAttempts:
    rng = np.random.default_rng(0)
    rule_set = gnomon.load_rule(rule)
    learner = make_learner(kind, DEFAULT_SPEC, rng=rng)
    log = play_trial(learner, rule_set, draw_boards(n, rng=rng))
    return TrialAttempts(log, rule_set, DEFAULT_SPEC)


def test_a_random_player_scores_what_chance_scores():
    """Some 10,800 attempts at p0 = 1/4: AAI is 1 within 1 % at one standard error."""
    uniform = played("uniform")
    curves = uniform.aai_curves()
    q = uniform.accepted.sum()
    assert curves["aai"][-1] == pytest.approx(1, abs=0.03)
    for name in ("aaic", "aaig", "omega"):
        assert curves[name][-1] == pytest.approx(q, rel=0.1)
    score = score_trial(uniform.log, "skill", rule_set=uniform.rule_set)
    assert score == pytest.approx(0, abs=0.03)


def test_a_player_without_errors():
    yardstick = played("rule_player", n=20)
    with pytest.warns(DegenerateScoresWarning, match="there is no failure among 180 attempts"):
        scores = {name: metric.compute(yardstick) for name, metric in ATTEMPT_METRICS.items()}
    assert scores.pop("informative") > 0
    assert 0.5 < scores.pop("positive_tests") <= 1
    assert np.isnan([scores.pop("inflection"), scores.pop("steepness")]).all()
    assert scores == {"m_star": 0, "aai": 0, "skill": 1, "start_skill": 1, "end_skill": 1}


def test_a_rule_on_which_nobody_errs():
    free = played("uniform", "anything-goes", n=3)
    assert np.isnan(ATTEMPT_METRICS["skill"].compute(free))


def test_what_is_refused():
    with pytest.raises(ValueError, match="expected a chance for each attempt, found 1 and 2"):
        corrected_success([1, 0], [0.5])
    with pytest.raises(ValueError, match="expected chances between 0 and 1"):
        corrected_success([1], [1.5])
    with pytest.raises(ValueError, match="mu: expected 1 numbers, found 2"):
        aai_curves([1], [0.5], [2, 2])
    with pytest.raises(ValueError, match="m_star: expected the rule that the trial was played on"):
        score_trial(played("uniform", n=1).log, "m_star")
