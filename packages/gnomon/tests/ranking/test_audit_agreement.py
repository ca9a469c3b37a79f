"""Where means and ranks disagree: the audit names the pair, and why."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.ranking import audit, rank
from gnomon.scores import ScoreTable, normalize
from gnomon.stats import compare


def made(leads, *, noise=0.05, runs=5, seed=0):
    """Make a table of two or more algorithms from their true means, task by task, on one scale."""
    rng = np.random.default_rng(seed)
    scores = {
        name: np.asarray(means) + noise * rng.normal(size=(runs, len(means)))
        for name, means in leads.items()
    }
    table = ScoreTable.from_arrays(scores)
    return normalize(table, dict.fromkeys(table.tasks, (0.0, 1.0)), name="unit")


def agreement(table, **options):
    found = audit(table, n_resamples=200, rng=0, **options)
    return {one.name: one for one in found if one.section == "agreement"}


def test_one_task_turns_the_mean_and_is_named():
    table = made({"often": [0.2] * 16, "once": [0.0] * 15 + [9.0]})
    (mean,) = compare(table, metrics="mean")
    ranking = rank(table)
    # The verbs contradict one another, each for certain.
    assert ranking.names == ("often", "once")
    assert ranking.separated[0, 1]
    assert mean.value < 0.0
    assert mean.p_adjusted < 0.05
    found = agreement(table)
    assert found["pairs"].finding == (
        "Means and ranks disagree on 1 of 1 pair: significant 1 in opposite directions. Means "
        "measure the size of differences; ranks count wins on each task"
    )
    assert found["pairs"].value == 1.0
    one = found["often and once"]
    assert one.finding.startswith(
        "often ranks significantly above once, but the mean of once is significantly better, by 0.3"
    )
    assert "often is ahead on 15 of 16 tasks by 0.21 on average" in one.finding
    assert one.finding.endswith("more than half of the differences comes from task_15")
    assert one.value == pytest.approx(mean.value)


def test_many_small_wins_are_told_from_few_large_losses():
    leads = [0.1] * 10 + [0.0] * 6
    found = agreement(made({"often": leads, "big": [0.0] * 10 + [0.5] * 6}))
    assert found["often and big"].finding.split("). ", 1)[1] == (
        "often is ahead on 10 of 16 tasks by 0.11 on average, behind by 0.49 on 6"
    )


def test_noise_of_one_task_hides_a_difference_that_ranks_see():
    rng = np.random.default_rng(0)
    a, b = (rng.normal(mean, 0.05, (5, 16)) for mean in (0.2, 0.0))
    for x in (a, b):
        x[:, 3] = rng.normal(0.0, 20.0, 5)
    table = ScoreTable.from_arrays({"a": a, "b": b})
    table = normalize(table, dict.fromkeys(table.tasks, (0.0, 1.0)), name="unit")
    found = agreement(table)["a and b"].finding
    assert found.startswith("a ranks significantly above b; the difference of means is not (p")
    assert found.endswith("more than half of the variance of the mean comes from task_3")


def test_verbs_that_agree_are_said_to():
    found = agreement(made({"a": [0.0] * 6, "b": [0.5] * 6, "c": [1.0] * 6}))
    assert list(found) == ["pairs"]
    assert found["pairs"].finding.startswith("Means and ranks agree on 3 pairs. Means measure")
    assert found["pairs"].value == 0.0


def test_single_runs_have_no_test_of_means():
    found = agreement(made({"a": [0.0] * 9, "b": [0.5] * 9}, runs=1))
    assert found["none"].finding.startswith("Not estimable: no pair has both")


def test_of_many_pairs_the_first_are_named():
    leads = {f"a{i}": [0.1 * i] * 15 + [-9.0 * i] for i in range(7)}
    found = agreement(made(leads))
    assert found["further"].value == len(found) - 2 + found["further"].value - 12
    assert found["further"].finding == f"And {found['further'].value:.0f} further pairs"


GAMES = ["Pong", "Boxing", "Breakout", "AirRaid", "Carnival", "Pooyan"]


@pytest.fixture(scope="module")
def games():
    """Two agents that differ on the games without baselines, and are alike on the others."""
    rng = np.random.default_rng(1)
    means = {"a": [0.0] * 6, "b": [0.0] * 3 + [9.0] * 3}
    return ScoreTable.from_arrays(
        {name: rng.normal(mean, 1.0, (6, 6)) for name, mean in means.items()}, tasks=GAMES
    )


def test_normalising_drops_a_task_from_means_and_never_from_ranks(games):
    with pytest.warns(match="left out of means"):
        scaled = normalize(games, "random-human")
    assert scaled.tasks == tuple(GAMES[:3])
    raw, kept = rank(games), rank(scaled)
    assert kept.names == raw.names == ("b", "a")
    assert kept.tiers == raw.tiers == (("b",), ("a",))
    assert kept.values == pytest.approx(raw.values)


def test_an_audit_ranks_tasks_that_have_no_scale_and_says_so(games):
    with pytest.warns(match="left out of means"):
        scaled = normalize(games, "random-human")
    found = audit(scaled, n_resamples=100)
    text = {(one.section, one.name): one.finding for one in found}
    assert found.ranking.tiers == (("b",), ("a",))
    assert text["table", "contents"].endswith("2 algorithms, 6 tasks, 6 runs")
    assert text["estimates", "scale"] == (
        "Scores normalised by random-human over 3 tasks, without 3 tasks that have no anchors"
    )
    assert text["ranks", "unscaled"].startswith("Includes 3 tasks without anchors")
    assert found.estimates[0].n_tasks == 3


def test_an_audit_ranks_as_rank_does(games):
    found, alone = audit(games, n_resamples=100, rng=3), rank(games)
    assert found.ranking == alone
    assert found.ranking.tiers == alone.tiers
