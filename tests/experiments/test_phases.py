"""Experiments with phases: who plays what, on which boards, and that learning goes on."""

from __future__ import annotations

import numpy as np
import pytest

import gnomon as gn
from gnomon.errors import ConfigError, RunFolderError
from gnomon.experiments import phase_experiment, play_phases, read_phase_experiment, score_phases
from gnomon.experiments.phases import _boards, _played
from gnomon.learners import play_trial

DESIGN = {
    "name": "pilot", "learners": ["tabular_q"], "trials": 3, "episodes": 4,
    "sequences": [
        {"phases": [{"rule": "clockwise"}, {"rule": "counterclockwise", "episodes": 2}]},
        {"kind": "near", "phases": [
            {"rule": "nearby", "train": "(*,*,*,[1,2,3,7,8,9],*)"},
            {"rule": "nearby", "test": "(*,*,*,[1,2,3,7,8,9],*)"},
        ]},
    ],
}  # fmt: skip


def test_later_phases_are_played_fresh_too_on_the_same_boards():
    made = phase_experiment(DESIGN)
    names = [[phase.name for phase in phases] for phases in made.all_sequences()]
    assert names == [
        ["clockwise", "counterclockwise"], ["nearby (train)", "nearby (test)"],
        ["counterclockwise"], ["nearby (test)"],
    ]  # fmt: skip
    both, *_, alone, _ = made.all_sequences()
    [_, after] = _played(made, both, made.base.learners[0], 1)
    [fresh] = _played(made, alone, made.base.learners[0], 1)
    assert (after.boards == fresh.boards).all()
    assert len(after.n_attempts) == 2


def test_learning_goes_on_from_phase_to_phase():
    same = phase_experiment(
        DESIGN | {"sequences": [{"phases": [{"rule": "clockwise"}, {"rule": "clockwise"}]}]}
    )
    [first, second] = _played(same, same.sequences[0], same.base.learners[0], 0)
    phase = same.sequences[0][0]
    boards = _boards(phase, same.base.board, same.base.seed, 0)
    rng = np.random.default_rng(0)
    learner = same.base.learners[0].make(same.base.board, rng=rng)
    rule = phase.rule.rule_set
    whole = play_trial(learner, rule, np.concatenate([boards, boards]))
    rng = np.random.default_rng(0)
    learner = same.base.learners[0].make(same.base.board, rng=rng)
    parts = [play_trial(learner, rule, boards) for _ in range(2)]
    assert np.concatenate([x.actions for x in parts]).tolist() == whole.actions.tolist()
    assert first.n_attempts.sum() != second.n_attempts.sum()


def test_a_rule_that_is_met_twice_has_other_boards_and_the_first_those_it_always_had():
    twice = {"phases": [{"rule": "clockwise"}, {"rule": "nearby"}, {"rule": "clockwise"}]}
    made = phase_experiment(DESIGN | {"sequences": [twice]})
    first, _, again = made.sequences[0]
    assert [phase.n_before for phase in made.sequences[0]] == [0, 0, 1]
    dealt = [_boards(phase, made.base.board, 0, 0) for phase in (first, again)]
    assert (dealt[0] != dealt[1]).any()
    rng = np.random.default_rng([0, int(first.hash[:32], 16), 0])
    assert (dealt[0] == gn.draw_boards(4, made.base.board, rng=rng)).all()
    assert (again,) in made.all_sequences(), "learners from scratch play the other boards too"


def test_every_attempt_is_kept_in_a_run_folder_that_plays_again(tmp_path):
    made = phase_experiment(DESIGN | {"learners": ["tabular_q", "uniform"]})
    table = play_phases(made, "m_star", out=tmp_path / "run")
    assert gn.verify(tmp_path / "run").ok
    assert score_phases(tmp_path / "run", "m_star").to_records() == table.to_records()
    errors = score_phases(tmp_path / "run")
    whole = gn.score(tmp_path / "run")
    for row in errors.to_records():
        runs = whole.runs(row["algorithm"], row["task"])
        assert runs[row["run"]] == row["score"], row
    with pytest.raises(RunFolderError, match="expected a run of an experiment with phases"):
        score_phases(gn.run(made.base, tmp_path / "other"))


def test_boards_meet_their_conditions():
    made = phase_experiment(DESIGN)
    zone = np.array([1, 2, 3, 7, 8, 9]) - 1
    train, test = (_boards(p, made.base.board, 0, 0)[:, zone] > 0 for p in made.sequences[1])
    assert not train.any()
    assert test.any(axis=1).all()
    nowhere = DESIGN["sequences"][0] | {
        "phases": [{"rule": "nearby", "episodes": 1, "train": "(*,*,*,*,*)"}]
    }
    with pytest.raises(ConfigError, match="on which no piece meets the condition; found 0 among"):
        play_phases(phase_experiment(DESIGN | {"sequences": [nowhere]}))


def test_what_is_wrong_is_told(tmp_path):
    for change, message in (
        ({"sequences": [{"phases": []}]}, "field 'sequences', phases: List should have"),
        ({"sequences": [{"phases": [{"rul": "nearby"}]}]}, "phases.0.rule: Field required"),
        ({"rules": ["nearby"]}, "expected 'sequences' or 'rules', found both"),
        (
            {"sequences": [{"phases": [{"rule": "nearby", "train": "()", "test": "()"}]}]},
            "phase 'nearby': expected 'train' or 'test', found both",
        ),
    ):
        with pytest.raises(ConfigError, match=message):
            phase_experiment(DESIGN | change)
    with pytest.raises(ConfigError, match="expected the field 'sequences', found none"):
        phase_experiment({"name": "x"})
    (tmp_path / "bad.toml").write_text("name = ")
    with pytest.raises(ConfigError, match=r"bad\.toml: not a TOML file"):
        read_phase_experiment(tmp_path / "bad.toml")
