"""What determines a trial: its key and its attempts change with the same things."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from gohr import BoardSpec
from gohr.experiments import (
    ExperimentConfig,
    LearnerEntry,
    RuleEntry,
    Trial,
    attempt_bytes,
    trials_of,
)

TRIAL = Trial(
    LearnerEntry("uniform", "u"), RuleEntry("c", "(*,*,*,*,[0,1])"), 0, 4, 50, 0, BoardSpec()
)


@pytest.mark.parametrize(
    "other",
    [
        replace(TRIAL, learner=LearnerEntry("uniform", "another name")),
        replace(TRIAL, rule=RuleEntry("another name", "# comment\n\n( *, *, *, *, [0, 1] )\n")),
    ],
)
def test_names_and_comments_determine_nothing(other):
    assert other.key == TRIAL.key
    assert attempt_bytes(other.play()) == attempt_bytes(TRIAL.play())


@pytest.mark.parametrize(
    "other",
    [
        replace(TRIAL, learner=LearnerEntry("rule_player", "u")),
        replace(TRIAL, rule=RuleEntry("c", "(*,*,*,*,2)")),
        replace(TRIAL, number=1),
        replace(TRIAL, episodes=5),
        replace(TRIAL, horizon=7),
        replace(TRIAL, seed=1),
        replace(TRIAL, board=BoardSpec(pieces=8)),
    ],
)
def test_all_else_does(other):
    assert other.key != TRIAL.key
    assert attempt_bytes(other.play()) != attempt_bytes(TRIAL.play())


def test_learners_meet_the_same_boards():
    other = replace(TRIAL, learner=LearnerEntry("rule_player", "r"))
    np.testing.assert_array_equal(TRIAL.play().boards, other.play().boards)


def test_a_key_is_pinned():
    """A change here means that no run folder can be gone on with."""
    assert TRIAL.key == "0526ca58fbbfeb00fdcec4e20be5465d"


def test_every_trial_has_a_key_of_its_own():
    config = ExperimentConfig(
        "x", ["clockwise", "color-match"], ["uniform", "rule_player"], trials=5
    )
    keys = [trial.key for trial in trials_of(config)]
    assert len(set(keys)) == len(keys) == config.n_trials == 20


@pytest.mark.full
def test_each_kernel_is_compiled_for_one_signature(tmp_path):
    # A constant handed from one kernel to another has a type of its own, and with it a kernel.
    code = (
        "import sys, gohr\n"
        "from numba.core.dispatcher import Dispatcher\n"
        "config = gohr.ExperimentConfig("
        "'all', ['color-match'], sys.argv[2:], trials=1, episodes=1)\n"
        "gohr.run(config, sys.argv[1])\n"
        "for name, module in list(sys.modules.items()):\n"
        "    if name.startswith('gohr.'):\n"
        "        for kernel in vars(module).values():\n"
        "            if isinstance(kernel, Dispatcher) and len(kernel.signatures) != 1:\n"
        "                if kernel.py_func.__module__ == name and kernel.signatures:\n"
        "                    print(name, kernel.py_func.__name__, len(kernel.signatures))\n"
    )
    ours = ["uniform", "frugal", "tabular_q", "reinforce", "linear_dqn", "ideal"]
    command = [sys.executable, "-c", code, str(tmp_path / "run"), *ours]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert said.stdout == ""


@pytest.mark.full
def test_workers_find_what_this_process_has_compiled(tmp_path):
    code = (
        "import sys, gohr\n"
        "if __name__ == '__main__':\n"
        "    config = gohr.ExperimentConfig("
        "'two', ['color-match'], ['uniform'], trials=2, episodes=2)\n"
        "    gohr.run(config, sys.argv[1], workers=2)\n"
    )
    (tmp_path / "two.py").write_text(code)
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "NUMBA_DEBUG_CACHE": "1",
    }
    command = [sys.executable, str(tmp_path / "two.py"), str(tmp_path / "run")]
    said = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    saved = re.findall(r"data saved to '(.*)'", said.stdout)
    assert len(saved) > 3
    assert len(saved) == len(set(saved)), "a kernel was compiled twice"
