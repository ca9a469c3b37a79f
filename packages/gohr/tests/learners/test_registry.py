import importlib.util
import subprocess
import sys

import numpy as np
import pytest

from gnomon.errors import GnomonError, UnknownNameError
from gohr import BoardSpec, draw_boards, find_stalemate, load_rule, parse, play
from gohr.errors import ConfigError
from gohr.learners import (
    Learner,
    LinearDQN,
    Uniform,
    available_learners,
    learner_kinds,
    make_learner,
)
from gohr.rules import draw_rule, load_template

#: What some kinds cannot do without.
NEEDED = {"process": {"command": "some program"}}


def make(kind, **settings):
    return make_learner(kind, BoardSpec(), rng=np.random.default_rng(0), **settings)


@pytest.mark.parametrize("kind", available_learners())
def test_every_kind_can_be_made_and_with_its_own_defaults(kind):
    if kind == "sb3" and importlib.util.find_spec("sb3_contrib") is None:
        pytest.skip("stable_baselines3 and sb3_contrib are not installed (extra rl)")
    needed = NEEDED.get(kind, {})
    assert isinstance(make(kind, **needed), Learner)
    make(kind, **{field.name: field.default for field in learner_kinds(kind)[0].settings} | needed)


@pytest.mark.parametrize("kind", NEEDED)
def test_what_is_needed_is_asked_for(kind):
    (name,) = NEEDED[kind]
    with pytest.raises(ConfigError, match=f"learner '{kind}': {name}: expected .*, found ''"):
        make(kind)


def test_a_seed_is_taken_for_its_generator_and_is_0_by_default():
    def attempts(boards, learner):
        return play(boards, learner, load_rule("clockwise")).actions.tolist()

    def rng():
        return np.random.default_rng(1)

    boards = draw_boards(3, rng=1)
    assert (boards == draw_boards(3, rng=rng())).all()
    assert (draw_boards(3) == draw_boards(3, rng=0)).all()
    for kind in ("uniform", "frugal", "tabular_q", "ideal"):
        seeded = attempts(boards, make_learner(kind, BoardSpec(), rng=1))
        assert seeded == attempts(boards, make_learner(kind, BoardSpec(), rng=rng()))
    assert attempts(boards, Uniform(rng=1)) == attempts(boards, Uniform(rng=rng()))
    assert attempts(boards, Uniform()) == attempts(boards, Uniform(rng=0))
    template = load_template("cycle-of-two")
    assert draw_rule(template, rng=1) == draw_rule(template, rng=rng())
    stuck = parse("(*,[star,circle,square],*,*,0)")
    assert find_stalemate(stuck, rng=1) == find_stalemate(stuck, rng=rng())


def test_fields_tell_types_and_defaults():
    fields = {field.name: field for field in learner_kinds("linear_dqn")[0].settings}
    assert (fields["learning_rate"].type, fields["learning_rate"].default) == (float, 0.03)
    assert (fields["buffer_size"].type, fields["buffer_size"].default) == (int, 1000)
    assert (fields["plays_on"].type, fields["plays_on"].default) == (bool, False)
    assert fields["tie_break"].choices == ("random", "first")
    assert not learner_kinds("uniform")[0].settings


def test_an_unknown_kind_is_told_with_the_nearest():
    with pytest.raises(UnknownNameError) as caught:
        make("linear-dqn")
    assert str(caught.value) == "unknown learner 'linear-dqn'; did you mean 'linear_dqn'?"


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        ("linear_dqn", {"gama": 0.9}, "unknown field 'gama'; did you mean 'gamma'?"),
        ("linear_dqn", {"gamma": "high"}, "gamma: expected a number from 0 to 1, found 'high'"),
        ("linear_dqn", {"gamma": True}, "gamma: expected a number from 0 to 1, found True"),
        ("linear_dqn", {"gamma": 2}, "gamma: expected a number from 0 to 1, found 2"),
        (
            "linear_dqn",
            {"gamma": 10**400},
            "gamma: expected a number from 0 to 1, found 1000",
        ),
        ("linear_dqn", {"gamma": float("nan")}, "gamma: expected a number from 0 to 1, found nan"),
        ("linear_dqn", {"target_period": 2.0}, "target_period: expected a whole number from 1"),
        (
            "linear_dqn",
            {"batch_size": 0},
            "batch_size: expected a whole number from 1 to 1,000,000",
        ),
        ("linear_dqn", {"plays_on": 1}, "plays_on: expected true or false, found 1"),
        ("linear_dqn", {"actions": "al"}, "actions: expected 'all' or 'occupied', found 'al'"),
        ("linear_dqn", {"actions": ["all"]}, "actions: expected 'all' or 'occupied', found ['all"),
        ("tabular_q", {"learning_rate": 1.5}, "learning_rate: expected a number above 0 and at mo"),
        ("tabular_q", {"epsilon_decay": 0}, "epsilon_decay: expected a number above 0, found 0"),
        ("reinforce", {"baseline": "max"}, "baseline: expected 'mean' or 'none', found 'max'"),
    ],
)
def test_a_wrong_setting_is_told(kind, settings, message):
    with pytest.raises(ConfigError) as caught:
        make(kind, **settings)
    assert str(caught.value).startswith(f"learner '{kind}': {message}")


def test_the_class_itself_checks_the_ranges_too():
    with pytest.raises(ValueError, match="learning_rate: expected a number above 0, found nan"):
        LinearDQN(rng=np.random.default_rng(0), learning_rate=float("nan"))


def test_a_learner_without_settings_says_so():
    with pytest.raises(ConfigError, match="learner 'uniform': unknown field 'seed'; known: none"):
        make("uniform", seed=1)


def test_palettes_that_a_learner_cannot_take_are_the_user_s_to_mend():
    spec = BoardSpec(shape_palette=list("abcdefgh"), color_palette=list("abcdefgh"))
    with pytest.raises(GnomonError, match="learner 'linear_dqn': expected at most 62"):
        make_learner("linear_dqn", spec, rng=np.random.default_rng(0))


def test_listing_and_making_load_no_package_of_an_extra():
    code = (
        "import sys, numpy; from gohr.board import *\n"
        "from gohr.learners import available_learners, learner_kinds, make_learner\n"
        f"needed = {NEEDED}\n"
        "for kind in available_learners():\n"
        "    learner_kinds(kind)\n"
        "    if kind != 'sb3':\n"
        "        rng = numpy.random.default_rng(0)\n"
        "        make_learner(kind, BoardSpec(), rng=rng, **needed.get(kind, {}))\n"
        "print(bool({'jax', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
