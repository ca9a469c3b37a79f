import ast
import subprocess
import sys

import pytest

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


def test_nothing_stays_behind_once_the_names_are_registered_and_a_second_time_changes_nothing():
    code = (
        "import sys; before = list(sys.meta_path)\n"
        "import gohr, importlib; importlib.reload(gohr)\n"
        "import gymnasium, inspect; names = dict(gymnasium.registry); importlib.reload(gohr)\n"
        "print(sys.meta_path == before, gymnasium.registry == names)\n"
        "print(sorted(name for name in names if name.startswith('gohr/')))\n"
        "from gymnasium.envs import registration as it\n"
        "print(type(it.__loader__).__module__, it.__spec__.loader is it.__loader__)\n"
        "print(len(inspect.getsource(it)) > 0)"
    )
    same, names, *loaders = said_by(code)
    assert same == "True True"
    assert {"gohr/Clockwise-v0", "gohr/ColorMatch-v0", "gohr/HiddenRules-v0"} <= set(
        ast.literal_eval(names)
    )
    assert loaders == ["_frozen_importlib_external True", "True"]
