"""Experiments read from files and made in Python, and what is said when they are wrong."""

from __future__ import annotations

from importlib import resources
from importlib.util import find_spec
from pathlib import Path

import pytest

from gnomon.errors import UnknownNameError
from gohr import BoardSpec
from gohr.errors import ConfigError, RuleSyntaxError
from gohr.experiments import ExperimentConfig, LearnerEntry, RuleEntry, load_experiment
from gohr.rules import available_rules

GOOD = """
name = "first"
rules = ["clockwise", "my-rule.txt", { name = "own", text = "(*,*,*,*,1)" }]
learners = ["uniform", { kind = "linear_dqn", learning_rate = 0.03, name = "fast" }]
trials = 2
episodes = 3
horizon = 50
seed = 7
[board]
pieces = [5, 9]
shapes = 2
color_palette = ["red", "green", "blue", "black"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "my-rule.txt").write_text("# a rule of my own\n(*,*,*,*,0)\n")
    (tmp_path / "first.toml").write_text(GOOD)
    return tmp_path


def test_a_file_is_read_with_every_field(folder):
    config = ExperimentConfig.from_toml(folder / "first.toml")
    assert config.name == "first"
    assert [rule.name for rule in config.rules] == ["clockwise", "my-rule", "own"]
    assert config.rules[1].text == "# a rule of my own\n(*,*,*,*,0)\n"
    assert [(x.kind, x.name) for x in config.learners] == [
        ("uniform", "uniform"),
        ("linear_dqn", "fast"),
    ]
    assert config.learners[1].params["learning_rate"] == 0.03
    assert config.learners[1].params["batch_size"] == 128  # defaults are written down too
    assert (config.trials, config.episodes, config.horizon, config.seed) == (2, 3, 50, 7)
    palette = ("RED", "GREEN", "BLUE", "BLACK")
    assert config.board == BoardSpec((5, 9), 2, 4, color_palette=palette)
    assert config.n_trials == 12


def test_a_record_gives_the_experiment_back(folder):
    config = ExperimentConfig.from_toml(folder / "first.toml")
    assert ExperimentConfig.from_record(config.to_record()) == config
    assert ExperimentConfig.of_run(config.to_record()) == config


def test_the_same_in_python(folder):
    config = ExperimentConfig(
        "first",
        ["clockwise", str(folder / "my-rule.txt"), RuleEntry("own", "(*,*,*,*,1)")],
        [
            LearnerEntry("uniform", "uniform"),
            {"kind": "linear_dqn", "learning_rate": 0.03, "name": "fast"},
        ],
        trials=2,
        episodes=3,
        horizon=50,
        seed=7,
        board=BoardSpec((5, 9), 2, 4, color_palette=("red", "green", "blue", "black")),
    )
    assert config == ExperimentConfig.from_toml(folder / "first.toml")
    assert config.hash == ExperimentConfig.from_toml(folder / "first.toml").hash


def test_a_default_written_out_is_the_same_learner():
    def made(learner):
        return ExperimentConfig("x", ["clockwise"], [learner]).learners[0]

    assert made("linear_dqn").hash == made({"kind": "linear_dqn", "gamma": 1}).hash
    assert made("linear_dqn").hash != made({"kind": "linear_dqn", "gamma": 0.5}).hash


def test_a_comment_in_a_rule_makes_no_other_experiment():
    def made(text, name="own"):
        return ExperimentConfig("x", [RuleEntry(name, text)], ["uniform"]).hash

    assert made("(*,*,*,*,1)") == made("# comment\n(*, *, *, *, 1)\n")
    assert made("(*,*,*,*,1)") != made("(*,*,*,*,2)")
    assert made("(*,*,*,*,1)") != made("(*,*,*,*,1)", "another")


def test_the_library_loads():
    library = resources.files("gohr.experiments") / "library"
    names = [path.name.removesuffix(".toml") for path in library.iterdir() if path.is_file()]
    for name in names:
        if name.startswith("gohr-core-sb3") and find_spec("sb3_contrib") is None:
            with pytest.raises(ConfigError, match=r"pip install 'gohr\[rl\]'"):
                load_experiment(name)
        else:
            assert load_experiment(name).name == name
    demo = load_experiment("demo")
    assert demo.trials >= 20
    assert len(demo.rules) == 4


#: What is changed in the file, and the message.
WRONG = {
    ("trials = 2", "trails = 2"): "unknown field 'trails'; did you mean 'trials'?",
    ('name = "first"\n', ""): "missing field 'name'",
    ('name = "first"', 'name = "\\u001b[31mred"'): "field 'name': expected printable characters; "
    r"found '\x1b[31mred'",
    ("episodes = 3", "episodes = 0"): "field 'episodes': input should be greater than or equal to "
    "1; found 0",
    ("horizon = 50", "horizon = 2000000"): "field 'horizon': input should be less than or equal to "
    "1000000; found 2000000",
    ("seed = 7", "seed = true"): "field 'seed': input should be a valid integer; found True",
    ('rules = ["clockwise"', 'rules = [3, "clockwise"'): "field 'rules', item 1: input should be a "
    "dictionary or an instance of RuleEntry; found 3",
    (GOOD, "name = 'x'\nrules = 'clockwise'\nlearners = ['uniform']"): "field 'rules': input "
    "should be a valid list; found 'clockwise'",
    (GOOD, "name = 'x'\nrules = []\nlearners = ['uniform']"): "field 'rules': list should have at "
    "least 1 item after validation, not 0; found []",
    ('kind = "linear_dqn", ', ""): "field 'learners', item 2: missing field 'kind'",
    ("shapes = 2", "shape = 2"): "field 'board': unknown field 'shape'; did you mean 'shapes'?",
    ("pieces = [5, 9]", "pieces = 40"): "field 'board': pieces: expected between 1 and 36, found "
    "40",
    ('"clockwise"', '"clockwize"'): str(
        UnknownNameError("rule or file", "clockwize", available_rules())
    ),
    ("learning_rate", "gama"): "learner 'linear_dqn': unknown field 'gama'; did you mean 'gamma'?",
    ("learning_rate = 0.03", 'learning_rate = "fast"'): "learner 'linear_dqn': learning_rate: "
    "expected a number above 0, found 'fast'",
    ('name = "fast"', 'name = "uniform"'): "field 'learners': expected different names, found "
    "'uniform' twice",
    ("(*,*,*,*,1)", "(*,*,*,Furthest,1)"): "rule 'own', line 1, column 8: error: the order "
    "'Furthest' does not exist, which stops the game; write 'Farthest'",
    ("(*,*,*,*,1)", "( *, *, *, *, 0 )"): "field 'rules': 'my-rule' and 'own' are the same",
    ("trials = 2", "trials 2"): "not a TOML file: Expected '=' after a key in a key/value pair (at "
    "line 5, column 8)",
}


@pytest.mark.parametrize("change", WRONG)
def test_a_wrong_file_is_told_in_one_line(folder, change):
    path = folder / "first.toml"
    assert change[0] in GOOD
    path.write_text(GOOD.replace(*change))
    with pytest.raises(ConfigError) as error:
        ExperimentConfig.from_toml(path)
    assert str(error.value) == f"{path}: {WRONG[change]}"


def test_a_rule_that_does_not_parse_names_its_own_file(folder):
    (folder / "my-rule.txt").write_text("(*,*,*,*,0\n")
    with pytest.raises(RuleSyntaxError) as error:
        ExperimentConfig.from_toml(folder / "first.toml")
    assert str(error.value).startswith(f"{folder / 'my-rule.txt'}, line 1, column ")


def test_a_file_that_is_not_there(folder):
    with pytest.raises(ConfigError, match=r"none.toml: cannot read this file: No such file"):
        ExperimentConfig.from_toml(folder / "none.toml")
    with pytest.raises(
        UnknownNameError, match=r"^unknown experiment or file 'dmo'; did you mean 'demo'\?$"
    ):
        load_experiment("dmo")


def test_a_file_that_is_not_text(folder):
    (folder / "first.toml").write_bytes(b"\xff\xfe\x00")
    found = "expected UTF-8 text, found byte 0xff at offset 0"
    with pytest.raises(ConfigError, match=rf"first.toml: {found}$"):
        ExperimentConfig.from_toml(folder / "first.toml")


def test_a_grid_is_a_learner_of_each_combination():
    grid = {"learning_rate": [0.01, 0.03], "plays_on": [False, True]}
    config = ExperimentConfig(
        "x", ["clockwise"], [{"kind": "linear_dqn", "name": "dqn", "gamma": 0.9, "grid": grid}]
    )
    assert [learner.name for learner in config.learners] == [
        "dqn, learning_rate=0.01, plays_on=false",
        "dqn, learning_rate=0.01, plays_on=true",
        "dqn, learning_rate=0.03, plays_on=false",
        "dqn, learning_rate=0.03, plays_on=true",
    ]
    assert {learner.params["gamma"] for learner in config.learners} == {0.9}
    assert ExperimentConfig.from_record(config.to_record()) == config


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        ({"kind": "linear_dqn", "grid": {"gama": [1.0]}}, "unknown field 'gama'"),
        ({"kind": "linear_dqn", "grid": {"gamma": []}}, "'grid'.*: expected"),
        ({"kind": "linear_dqn", "grid": 3}, "'grid': expected a table of settings, each with a"),
        ({"kind": "linear_dqn", "gamma": 1.0, "grid": {"gamma": [0.9]}}, "is a setting and in the"),
        (
            {
                "kind": "tabular_q",
                "grid": {k: [0.5] * 100 for k in ("gamma", "learning_rate")}
                | {"epsilon_start": [0.1, 0.2]},
            },
            "learner 'tabular_q': expected a grid of at most 10,000 combinations; found 20,000",
        ),
    ],
)
def test_a_wrong_grid(learner, message):
    with pytest.raises(ConfigError, match=message):
        ExperimentConfig("x", ["clockwise"], [learner])


def test_a_limit_decides_nothing_that_is_played():
    free = ExperimentConfig("x", ["clockwise"], ["uniform"])
    bound = ExperimentConfig("x", ["clockwise"], ["uniform"], trial_timeout_s=2)
    assert bound.hash == free.hash
    assert bound != free
    assert ExperimentConfig.from_record(bound.to_record()) == bound
    for wrong in (
        {"trial_timeout_s": 0},
        {"trial_timeout_s": True},
        {"trial_timeout_s": "2"},
        {"trials": 10**5000},
        {"seed": 2**63},
    ):
        with pytest.raises(ConfigError, match=r"field '\w+': input should be"):
            ExperimentConfig("x", ["clockwise"], ["uniform"], **wrong)
