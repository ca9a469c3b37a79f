"""Scores against hand-counted trials."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gnomon.errors import UnknownNameError
from gohr import BoardSpec, TrialLog, draw_boards, load_rule, make_learner, play
from gohr.experiments import (
    METRICS,
    ExperimentConfig,
    episode_errors,
    run,
    run_label,
    score,
    score_trial,
)
from gohr.rules import RuleSet
from runs import fail

CLEARED, STALEMATE, CUT_OFF = 1, 2, 0
STREAK = 10


def log_of(*episodes: tuple[list[int], int]) -> TrialLog:
    outcomes = [o for rows, _ in episodes for o in rows]
    return TrialLog(
        boards=np.zeros((len(episodes), 36), dtype=np.uint8),
        n_attempts=np.array([len(rows) for rows, _ in episodes], dtype=np.int64),
        actions=np.zeros(len(outcomes), dtype=np.uint8),
        outcomes=np.array(outcomes, dtype=np.int8),
        finish=np.array([finish for _, finish in episodes], dtype=np.int8),
    )


GOOD = ([0, 0], CLEARED)
STUCK = ([0], STALEMATE)


def test_what_is_an_error():
    log = log_of(([4, 7, 3, 0], CLEARED), ([], STALEMATE), ([0, -4, -4], CLEARED))
    assert episode_errors(log).tolist() == [3, 0, 0]
    assert episode_errors(log, count_empty=False).tolist() == [2, 0, 0]
    assert score_trial(log, "tce") == 3
    assert score_trial(log, "tce", count_empty=False) == 2
    assert score_trial(log, "errors_per_episode").tolist() == [3, 0, 0]
    assert score_trial(log, "cumulated_errors").tolist() == [3, 3, 3]


@pytest.mark.parametrize(
    ("episodes", "start", "errors"),
    [
        ([GOOD] * STREAK, 0, 0),
        ([([4, 4, 0], CLEARED)] + [GOOD] * STREAK, 1, 2),
        # A failure after the streak takes nothing back.
        ([([4, 0], CLEARED)] + [GOOD] * STREAK + [([4, 4, 0], CLEARED)] * 5, 1, 1),
        # An error breaks a streak of nine.
        ([GOOD] * 9 + [([4, 0], CLEARED)] + [GOOD] * STREAK, 10, 1),
        # A stalemate counts as finished, an episode that was cut off does not.
        ([GOOD] * 5 + [STUCK] * 5, 0, 0),
        ([GOOD] * 9 + [([0], CUT_OFF)] + [GOOD] * STREAK, 10, 0),
    ],
)
def test_learned_at_the_first_streak(episodes, start, errors):
    log = log_of(*episodes)
    assert score_trial(log, "learned") == 1
    assert score_trial(log, "episodes_to_learn") == start
    assert score_trial(log, "errors_to_learn") == errors


@pytest.mark.parametrize("episodes", [[GOOD] * 9, [([4, 0], CLEARED)] * 20, [([0], CUT_OFF)] * 20])
def test_unlearned_is_infinite(episodes):
    log = log_of(*episodes)
    assert score_trial(log, "learned") == 0
    assert score_trial(log, "episodes_to_learn") == math.inf
    assert score_trial(log, "errors_to_learn") == math.inf


def test_empty_cells_left_out_may_make_a_streak():
    log = log_of(*[([3, 0], CLEARED)] * STREAK)
    assert score_trial(log, "learned") == 0
    assert score_trial(log, "learned", count_empty=False) == 1


def test_an_unknown_metric_names_the_nearest():
    with pytest.raises(UnknownNameError, match=r"^unknown metric 'tec'; did you mean 'tce'\?$"):
        score_trial(log_of(GOOD), "tec")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    learners = ["uniform", "rule_player"]
    config = ExperimentConfig(
        "small", ["clockwise", "color-match"], learners, trials=3, episodes=12
    )
    return run(config, tmp_path_factory.mktemp("small"))


@pytest.mark.parametrize("metric", ["tce", "errors_to_learn", "episodes_to_learn", "learned"])
def test_a_table_says_what_its_scores_are(folder, metric):
    table = score(folder, metric)
    assert (table.metric, table.unit) == (metric, METRICS[metric].unit)
    assert table.higher_is_better == METRICS[metric].higher_is_better
    assert (table.algorithms, table.tasks) == (
        ("uniform", "rule_player"),
        ("clockwise", "color-match"),
    )
    assert table.provenance == ("experiment small", "attempts on empty cells counted as errors")
    for trial in folder.trials():
        expected = score_trial(folder.log(trial), metric)
        # A learner starts anew on each rule: no label is that of a trial on another rule.
        at = table.run_labels(trial.learner, trial.rule).index(run_label(trial.rule, trial.trial))
        assert table.runs(trial.learner, trial.rule)[at] == expected


def test_an_unlearned_trial_is_censored(folder):
    table = score(folder, "errors_to_learn")
    assert np.isinf(table.runs("uniform", "clockwise")).all()
    assert table.runs("rule_player", "clockwise").tolist() == [0, 0, 0]
    assert table.to_polars()["censored"].to_list() == [True] * 6 + [False] * 6


def test_a_score_an_episode_has_steps_from_one(folder):
    table = score(folder, "cumulated_errors")
    steps, curves = table.curves("uniform", "clockwise")
    assert steps.tolist() == list(range(1, 13))
    trials = [t for t in folder.trials() if (t.learner, t.rule) == ("uniform", "clockwise")]
    expected = [score_trial(folder.log(t), "cumulated_errors") for t in trials]
    np.testing.assert_array_equal(curves, expected)
    tce = score(folder, "tce").runs("uniform", "clockwise")
    np.testing.assert_array_equal(table.last_step().runs("uniform", "clockwise"), tce)


def test_a_failed_trial_is_a_missing_run(tmp_path):
    config = ExperimentConfig("two", ["clockwise"], ["uniform"], trials=2, episodes=2)
    folder = run(config, tmp_path)
    fail(folder, folder.trials()[1])
    table = score(folder)
    assert (len(table), table.runs("uniform", "clockwise").size) == (2, 1)
    assert np.isnan(table.to_polars()["score"][1])
    assert len(score(folder, "errors_per_episode")) == 2


@pytest.mark.filterwarnings("ignore::gohr.errors.StuckRuleWarning")
def test_a_run_scores_as_each_of_its_logs_does(tmp_path):
    stuck = {"name": "stuck", "text": "(*,pentagon,*,*,0)"}  # an episode without attempts
    learners = ["uniform", {"kind": "linear_dqn", "plays_on": True}]
    rules = ["clockwise", stuck]
    config = ExperimentConfig("chances", rules, learners, trials=2, episodes=4)
    folder = run(config, tmp_path)
    rule_sets = {rule.name: rule.rule_set for rule in config.rules}
    for metric in ("tce", "m_star", "skill"):
        for count_empty in (True, False):
            table = score(folder, metric, count_empty=count_empty)
            for learner in table.algorithms:
                for rule in table.tasks:
                    replayed = [
                        score_trial(
                            folder.log(record),
                            metric,
                            count_empty=count_empty,
                            rule_set=rule_sets[rule],
                        )
                        for record in folder.trials()
                        if (record.learner, record.rule) == (learner, rule)
                    ]
                    scored = [x for x in replayed if not math.isnan(x)]
                    assert table.runs(learner, rule).tolist() == scored, (metric, rule)


# -- scores of attempts, against what a random player and the rule player must score ---------------


def played(kind: str, rule: str = "color-match", n: int = 300) -> tuple[TrialLog, RuleSet]:
    rng = np.random.default_rng(0)
    rule_set = load_rule(rule)
    learner = make_learner(kind, BoardSpec(), rng=rng)
    return play(draw_boards(n, rng=rng), learner, rule_set), rule_set


def test_a_random_player_scores_what_chance_scores():
    """Some 10,800 attempts at p0 = 1/4: 0 within 1 % at one standard error."""
    log, rule_set = played("uniform")
    assert score_trial(log, "skill", rule_set=rule_set) == pytest.approx(0, abs=0.03)


def test_a_player_without_errors():
    log, rule_set = played("rule_player", n=20)
    scores = {
        m.name: score_trial(log, m.name, rule_set=rule_set)
        for m in METRICS.values()
        if m.of_attempts
    }
    assert scores == {"m_star": 0, "skill": 1}


def test_a_rule_on_which_nobody_errs():
    log, rule_set = played("uniform", "anything-goes", n=3)
    assert np.isnan(score_trial(log, "skill", rule_set=rule_set))


def test_a_score_of_attempts_needs_the_rule():
    with pytest.raises(ValueError, match="m_star: expected the rule that the trial was played on"):
        score_trial(played("uniform", n=1)[0], "m_star")
