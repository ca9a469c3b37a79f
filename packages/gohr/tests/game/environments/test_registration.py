import subprocess
import sys

import pytest

from gohr.game.environments.registration import SAMPLE_RULES, register_environments

SHOW = "print(gymnasium.spec('gohr/Clockwise-v0').kwargs, gymnasium.spec('CartPole-v1').id)"


def said_by(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("modules", ["gohr, gymnasium", "gymnasium, gohr"])
def test_the_names_are_known_in_whatever_order_the_two_are_imported(modules):
    assert said_by(f"import {modules}\n{SHOW}") == ["{'rule': 'clockwise'} CartPole-v1"]


def test_gymnasium_is_not_loaded_before_somebody_asks_for_it():
    code = "import sys, gohr; print('gymnasium' in sys.modules, 'numpy' in sys.modules)"
    assert said_by(code) == ["False False"]


def test_nothing_stays_behind_once_the_names_are_registered():
    code = (
        "import sys; before = list(sys.meta_path)\n"
        "import gohr; from gohr.game.environments.registration import register_environments\n"
        "register_environments(); import gymnasium, inspect; register_environments()\n"
        "print(sys.meta_path == before)\n"
        "from gymnasium.envs import registration as it\n"
        "print(type(it.__loader__).__module__, it.__spec__.loader is it.__loader__)\n"
        "print(len(inspect.getsource(it)) > 0)"
    )
    first, second, third = said_by(code)
    assert (first, second, third) == ("True", "_frozen_importlib_external True", "True")


def test_a_second_registration_changes_nothing():
    import gymnasium

    before = dict(gymnasium.registry)
    register_environments()
    assert dict(gymnasium.registry) == before
    assert {f"gohr/{name}-v0" for name in SAMPLE_RULES} <= set(before)
