"""Power of studies with participants and rules: sizes of tests, power known by theory, refusals."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats as scipy_stats
from typer.testing import CliRunner

from gnomon.cli import app
from gnomon.errors import ScoreDataError
from gnomon.scores import ScoreTable, write_scores
from gnomon.stats import plan_participants


def pilot(people=30, rules=8, spreads=(0.5, 0.6, 0.4), seed=3):
    """Return the errors of a pilot whose logarithms have known spreads."""
    rng = np.random.default_rng(seed)
    who, which = rng.normal(0, spreads[0], (people, 1)), rng.normal(0, spreads[1], (1, rules))
    logs = 4 + who + which + rng.normal(0, spreads[2], (people, rules))
    scores = {f"p{i}": [np.expm1(np.maximum(row, 0))] for i, row in enumerate(logs)}
    return ScoreTable.from_arrays(scores, higher_is_better=False)


def test_spreads_of_the_pilot_are_found():
    found = plan_participants(pilot(200, 40), participants=[4], rules=[2], n_simulations=10)
    spreads = [found.settings[f"{x}_sd"] for x in ("participant", "rule", "residual")]
    assert spreads == pytest.approx([0.5, 0.6, 0.4], rel=0.2)


def test_power_between_participants_is_that_of_the_t_test():
    found = plan_participants(pilot(), participants=[20], rules=[4], ratio=0.5, n_simulations=4000)
    s = found.settings
    sd = math.sqrt(s["participant_sd"] ** 2 + s["residual_sd"] ** 2 / 4)
    shift = math.log(2) / (sd * math.sqrt(2 / 10))
    critical = scipy_stats.t.ppf(0.975, 18)
    theory = scipy_stats.nct.sf(critical, 18, shift) + scipy_stats.nct.cdf(-critical, 18, shift)
    assert found[0].power == pytest.approx(theory, abs=0.03)


def test_a_study_within_participants_needs_fewer():
    sizes = {"participants": [12], "rules": [4], "n_simulations": 500}
    between, within = (plan_participants(pilot(), within=w, **sizes)[0].power for w in (0, 1))
    assert within > between + 0.3
    sample = plan_participants(pilot(), within=True, random_rules=True, effect_sd=0.3, **sizes)
    assert sample[0].power < within
    assert "rules a sample" in sample.title


@pytest.mark.full
def test_no_test_says_too_often_that_there_is_something():
    for within in (False, True):
        for random_rules in (False, True):
            found = plan_participants(
                pilot(), ratio=1.0, participants=[8, 20], rules=[2, 4], within=within,
                random_rules=random_rules, n_simulations=3000,
            )  # fmt: skip
            assert max(one.power for one in found) < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 3000)


def test_the_same_seed_gives_the_same_powers_and_what_cannot_be_is_refused():
    sizes = {"participants": [8], "rules": [2], "n_simulations": 50}
    assert plan_participants(pilot(), rng=1, **sizes) == plan_participants(pilot(), rng=1, **sizes)
    for change, message in (
        ({"ratio": 0.0}, "ratio: expected a number above 0, found 0"),
        ({"participants": [3]}, "participants: expected at least 4, found 3"),
        ({"rules": [1], "within": True}, "rules: expected at least 2, found 1"),
    ):
        with pytest.raises(ScoreDataError, match=message):
            plan_participants(pilot(), **(sizes | change))
    with pytest.raises(ScoreDataError, match="three participants and two rules; found 2 and 8"):
        plan_participants(pilot(2), **sizes)


def test_the_verb_plans(tmp_path):
    write_scores(pilot(), tmp_path / "pilot.csv")
    command = f"plan {tmp_path}/pilot.csv --way participants --participants 8 --n-rules 2 --within"
    options = f"--simulations 50 --figure {tmp_path}/p.svg --json"
    said = CliRunner().invoke(app, [*command.split(), *options.split()])
    [one] = json.loads(said.stdout)["results"]
    assert list(one) == ["participants", "rules", "ratio", "power", "low", "high"]
    assert (tmp_path / "p.svg").exists()
    wrong = CliRunner().invoke(app, f"plan {tmp_path}/pilot.csv --within".split())
    assert "need --way participants" in str(wrong.exception)
