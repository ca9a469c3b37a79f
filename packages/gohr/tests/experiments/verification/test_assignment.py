"""What an entry has to play: it survives its own file, and names nothing of ours."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.errors import GnomonError
from gohr import BoardSpec
from gohr.errors import ConfigError
from gohr.experiments import ExperimentConfig, RuleEntry, trials_of

ASSIGNMENT = ExperimentConfig(
    'a "name"',
    [
        RuleEntry("turn", '# say "hello" \\ and """\n(1,*,*,*,*)\n(*,*,*,*,p+1)'),
        RuleEntry("π = 3", "(*,red,*,*,[1,2]) (*,*,*,*,0)"),
    ],
    ["uniform"],
    trials=3,
    episodes=7,
    horizon=40,
    seed=2**63 - 1,
    board=BoardSpec(pieces=(3, 5), shapes=0, colors=(1, 2)),
)


def untrusted(**changes):
    return ExperimentConfig.from_record(ASSIGNMENT.to_record() | changes, trusted=False)


def test_its_file_says_the_same(tmp_path):
    path = tmp_path / "assigned.toml"
    path.write_text(ASSIGNMENT.to_toml(), encoding="utf-8")
    again = ExperimentConfig.from_toml(path, trusted=False)
    assert again == ASSIGNMENT
    assert ASSIGNMENT.difference(again) is None
    assert ExperimentConfig.from_toml(path) == ASSIGNMENT


def test_its_record_says_the_same():
    assert untrusted() == ASSIGNMENT


def test_its_boards_are_those_of_the_experiment():
    for trial in trials_of(ASSIGNMENT):
        rule = next(rule for rule in ASSIGNMENT.rules if rule.name == trial.rule.name)
        assert np.array_equal(trial.play().boards, ASSIGNMENT.deal(rule, trial.number))


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"seed": 4}, f"seed: expected {2**63 - 1}, found 4"),
        ({"trials": 2}, "trials: expected 3, found 2"),
        ({"episodes": 70}, "episodes: expected 7, found 70"),
        ({"horizon": 41}, "horizon: expected 40, found 41"),
        ({"board": BoardSpec()}, "board: not the boards expected"),
        ({"rules": ASSIGNMENT.rules[:1]}, "rules: expected 2, found 1"),
        ({"rules": ASSIGNMENT.rules[::-1]}, "rules: expected 'turn', found 'π = 3'"),
        (
            {"rules": (RuleEntry("turn", "(*,*,*,*,*)"), ASSIGNMENT.rules[1])},
            "rule 'turn': not the text expected",
        ),
        ({"name": "another"}, None),
        ({"rules": (RuleEntry("turn", "(1,*,*,*,*)\n(*,*,*,*,p+1)#"), ASSIGNMENT.rules[1])}, None),
    ],
)  # fmt: skip
def test_differences_are_told(change, difference):
    assert ASSIGNMENT.difference(ASSIGNMENT.model_copy(update=change)) == difference


def test_a_config_of_a_stranger_has_no_file_of_ours_read(tmp_path):
    """Not even to say that it does not parse: the message would tell a line of it."""
    secret = tmp_path / "secret.txt"
    secret.write_text("the password is swordfish")
    for rules in ([str(secret)], [{"name": str(secret)}], [{"name": "clockwise"}], "clockwise"):
        with pytest.raises(GnomonError) as error:
            untrusted(rules=rules)
        assert "swordfish" not in str(error.value)
    with pytest.raises(ConfigError, match=r"found 'clockwise' without; .*to_toml"):
        untrusted(rules=["clockwise"])


def test_no_learner_of_a_stranger_is_made(tmp_path):
    marker = tmp_path / "ran"
    learner = {"kind": "process", "command": f"touch {marker}"}
    assert [x.kind for x in untrusted(learners=[learner]).learners] == ["uniform"]
    assert not marker.exists()


@pytest.mark.parametrize("values", [{}, {"rules": None}, {"rules": [], "name": "x"}])
def test_what_is_no_config_is_refused(values):
    with pytest.raises(GnomonError):
        ExperimentConfig.from_record(values, trusted=False)
