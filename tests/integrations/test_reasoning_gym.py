"""reasoning-gym: items by seed, answers that score, and logs from which the answer follows."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import gnomon as gn

pytest.importorskip("reasoning_gym", reason="reasoning_gym is not installed")

from reasoning_gym.composite import DatasetSpec
from reasoning_gym.factory import create_dataset, get_score_answer_fn

from gnomon.integrations.reasoning_gym import NAME, HiddenRulesCurriculum

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def moves():
    return create_dataset(NAME, seed=5, size=48)


@pytest.mark.parametrize("task", ["move", "rule"])
def test_every_answer_scores_one_and_nothing_scores_nothing(task):
    score = get_score_answer_fn(NAME)
    for item in create_dataset(NAME, seed=1, size=26, task=task):
        assert score(item["answer"], item) == 1.0
        for junk in (None, "", "MOVE 9 9 9", "I do not know"):
            assert score(junk, item) == 0.0


def test_all_permitted_moves_are_right_and_others_are_not(moves):
    for item in (moves[k] for k in range(24)):
        about = item["metadata"]
        rule, codes = gn.parse(about["rule"]), np.array(about["board"], dtype=np.uint8)
        env = gn.HiddenRulesEnv(rule, reveal=True)
        _, info = env.reset(options={"board": codes})
        assert about["permitted"] == np.flatnonzero(info["permitted"]).tolist()
        for action in np.flatnonzero(info["action_mask"]).tolist():
            cell, bucket = divmod(action, 4)
            said = f"MOVE {cell % 6 + 1} {cell // 6 + 1} {bucket}"
            right = action in about["permitted"]
            assert moves.score_answer(said, item) == (1.0 if right else 0.05)


def test_a_nearly_right_rule_has_a_part():
    item = create_dataset(NAME, seed=1, size=1, task="rule")[0]
    rule = item["metadata"]["rule"]
    atoms = rule[1:-1].split(") (")
    part = f"({atoms[0]})"
    score = get_score_answer_fn(NAME)
    assert 0.0 < score(part, item) < score(f"({') ('.join(atoms[:3])})", item) < 1.0


def test_the_same_seed_gives_the_same_items_in_another_process(moves):
    code = (
        "import gnomon.integrations.reasoning_gym, reasoning_gym, sys\n"
        f"d = reasoning_gym.create_dataset({NAME!r}, seed=5, size=48)\n"
        "sys.stdout.write(d[7]['question'] + d[30]['answer'])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == moves[7]["question"] + moves[30]["answer"]
    assert create_dataset(NAME, seed=6, size=48)[7]["question"] != moves[7]["question"]


def test_no_rule_is_in_both_halves():
    halves = {
        split: {
            gn.parse(x["metadata"]["rule"])
            for x in create_dataset(NAME, seed=3, size=96, split=split)
        }
        for split in ("train", "eval")
    }
    assert not halves["train"] & halves["eval"]


def test_it_is_mixed_with_others_and_has_a_curriculum():
    spec = [
        DatasetSpec(name=NAME, weight=1, config={}),
        DatasetSpec(name="leg_counting", weight=1, config={}),
    ]
    mixed = create_dataset("composite", seed=0, size=6, datasets=spec)
    assert [mixed.score_answer(x["answer"], x) for x in mixed] == [1.0] * 6
    curriculum = HiddenRulesCurriculum()
    curriculum.increment_attr_level("n_rungs")
    assert curriculum.generate_configuration({"seed": 1, "size": 3}).n_rungs == 2


@pytest.mark.full  # the ideal learner's hypotheses
def test_the_answer_follows_from_the_log(moves):
    """The ideal learner, told the log alone, is certain of some move, and it is permitted."""
    from word_player import replayed_ideal

    sure = 0
    for item in moves:
        accepted = replayed_ideal(item["question"])
        best = int(accepted.argmax())
        sure += accepted[best] >= 1 - 1e-9
        if accepted[best] >= 1 - 1e-9:
            assert best in item["metadata"]["permitted"]
    assert sure >= 46
