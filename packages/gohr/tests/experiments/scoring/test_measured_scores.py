"""The scores that come with Gnomon are those that its experiments give."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.scores import load_scores
from gohr.experiments import METRICS, load_experiment, score_trial, trials_of

KEPT = ("tce", "errors_to_learn", "skill")


def test_they_are_those_of_the_experiment():
    config = load_experiment("gohr-full-results")
    for metric in KEPT:
        table = load_scores("gohr-full", metric)
        known = METRICS[metric]
        assert (table.metric, table.unit) == (metric, known.unit)
        assert table.higher_is_better == known.higher_is_better
        assert len(table) == config.n_trials
        assert table.attributes == ("kind",)
    assert config.hash[:16] in table.provenance[0]
    assert {learner.name for learner in config.learners} == set(table.algorithms)
    assert len(config.learners) >= 40
    # Every learner has as many trials on every rule.
    assert set(load_scores("gohr-full").run_counts.ravel().tolist()) == {config.trials}


# What draws and adds whole numbers alone plays the same trial on any processor.
@pytest.mark.parametrize("learner", ["uniform", "frugal"])
def test_a_trial_played_again_has_the_same_scores(learner):
    config = load_experiment("gohr-full-results")
    tables = {metric: load_scores("gohr-full", metric) for metric in KEPT}
    chosen = [t for t in trials_of(config) if t.learner.name == learner and t.number == 7][::9]
    assert len(chosen) == 10
    for trial in chosen:
        log = trial.play()
        for metric, table in tables.items():
            again = score_trial(log, metric, rule_set=trial.rule.rule_set, board_spec=trial.board)
            kept = table.runs(learner, trial.rule.name)
            if np.isnan(again):  # the skill under a rule that permits everything
                assert kept.size == 0
            else:
                np.testing.assert_allclose(kept[7], again, rtol=1e-6, err_msg=metric)
