"""verifiers: the same episode natively and through it, with a stub in the player's seat."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gohr
from word_player import WordPlayer

pytest.importorskip("verifiers", reason="verifiers is not installed")

from verifiers.v1.utils.loaders import load_taskset, taskset_class

import gohr_verifiers
from gnomon.errors import UnknownNameError
from gohr.integrations.verifiers import HiddenRulesConfig, HiddenRulesEnvConfig, game_of
from integrations.chat_server import pieces, serving

pytestmark = pytest.mark.filterwarnings("default")


def tasks(**settings):
    return list(load_taskset(HiddenRulesConfig(id="gohr-verifiers", **settings)))


class Seat:
    """An agent that answers by a function of the words, as an interaction hands them over."""

    def __init__(self, answer, most=10_000):
        self.answer, self.left, self.recorded = answer, most, {}

    @asynccontextmanager
    async def interaction(self, task):
        def record(name, value, weight=None):
            self.recorded[name] = value

        async def turn(said=None):
            self.left -= 1
            reply = self.answer(task.data.prompt if said is None else said)
            return SimpleNamespace(terminated=self.left < 0, last_reply=reply)

        trace = SimpleNamespace(record_reward=record, record_metric=record)
        yield SimpleNamespace(turn=turn, trace=trace)


def played(task, answer, **seat):
    player = Seat(answer, **seat)
    config = HiddenRulesEnvConfig(taskset=HiddenRulesConfig(id="gohr-verifiers"))
    env = gohr_verifiers.HiddenRulesEnv(config)
    asyncio.run(env.run(task, SimpleNamespace(player=player)))
    return player.recorded


def test_it_is_found_by_its_id_and_equal_settings_give_equal_tasks():
    assert taskset_class("gohr-verifiers") is gohr_verifiers.HiddenRulesTaskset
    one, other = ([t.data.model_dump() for t in tasks(n_tasks=30, seed=4)] for _ in range(2))
    assert one == other
    assert one != [t.data.model_dump() for t in tasks(n_tasks=30, seed=5)]
    assert {t["family"] for t in one} >= {"color-match", "clockwise", "red-and-on-top"}


def test_halves_rungs_and_families():
    halves = [{t.data.rule for t in tasks(n_tasks=96, split=s)} for s in ("train", "eval")]
    assert not halves[0] & halves[1]
    few = tasks(n_tasks=12, rungs=["memory", "order"], leave_out=["leftmost-first"])
    assert {t.data.rung for t in few} == {"memory", "order"}
    assert "leftmost-first" not in {t.data.family for t in few}
    with pytest.raises(UnknownNameError, match="unknown rung 'colour'"):
        tasks(rungs=["colour"])


def test_a_player_has_the_errors_that_it_has_natively():
    for task in tasks(n_tasks=24, seed=2)[::5]:
        data = task.data
        spec = gohr.BoardSpec()
        env = gohr.HiddenRulesEnv("anything-goes")
        boards = [
            env.reset(seed=None if k else data.board_seed)[0]["board"] for k in range(data.boards)
        ]
        learners = [
            gohr.make_learner("frugal", spec, rng=np.random.default_rng(9)) for _ in range(2)
        ]
        rule = gohr.parse(data.rule)
        native = gohr.play(np.array(boards), learners[0], rule, horizon=data.horizon)
        player = WordPlayer(learners[1], spec, data.horizon)
        found = played(task, player.answer)
        errors = int((native.outcomes != 0).sum())
        assert (found["attempts"], found["errors"]) == (len(native.actions), errors), data.name
        assert found["accepted"] == pytest.approx(1 - errors / len(native.actions))
        assert found["complete"] == 1


def test_who_knows_the_rule_has_1_and_who_never_moves_0():
    [task] = tasks(n_tasks=1, boards=1)
    rule = gohr.parse(task.data.rule)
    env = gohr.HiddenRulesEnv(rule, reveal=True)

    state = {}

    def knowing(told):
        if not state:
            _, state["info"] = env.reset(seed=task.data.board_seed)
        action = int(np.flatnonzero(state["info"]["permitted"])[0])
        *_, state["info"] = env.step(action)
        cell, bucket = divmod(action, 4)
        return f"MOVE {cell % 6 + 1} {cell // 6 + 1} {bucket}"

    assert played(task, knowing)["accepted"] == 1.0
    silent = played(task, lambda told: "I pass")
    assert (silent["accepted"], silent["unreadable"], silent["complete"]) == (0.0, 5, 0.0)
    state.clear()
    cut = played(task, knowing, most=2)
    assert (cut["accepted"], cut["complete"]) == (0.0, 0.0)


def test_its_command_plays_a_served_model_as_it_is_played_natively(tmp_path):
    """``vf-eval`` against a server on this machine, whose streamed answers go through buckets."""

    def say(messages):
        x, y, _, _ = pieces(messages)[0]
        return f"MOVE {x} {y} {sum(m['role'] == 'assistant' for m in messages) % 4}"

    settings = {"n_tasks": 2, "boards": 1, "horizon": 6, "pieces": 3}
    words = [f"--env.taskset.{name.replace('_', '-')}={value}" for name, value in settings.items()]
    with serving(say) as url:
        where = ["--client.base-url", url, "--client.api-key-var", "A_KEY"]
        ran = subprocess.run(
            [Path(sys.executable).with_name("vf-eval"), "gohr-verifiers", "-m", "plays",
             "-n", "2", "--no-push", "--env.player.runtime.type", "subprocess",
             "-o", "out", *words, *where],
            capture_output=True, text=True, cwd=tmp_path, env=os.environ | {"A_KEY": "k"},
        )  # fmt: skip
    assert ran.returncode == 0, ran.stdout
    [path] = tmp_path.glob("out/*/traces.jsonl")
    episodes = [json.loads(line)["traces"][0] for line in path.read_text("utf-8").splitlines()]
    found = {trace["task"]["data"]["name"]: trace for trace in episodes}
    for task in tasks(**settings):
        data = task.data
        game = game_of(data.rule, data.boards, data.horizon, data.pieces, data.board_seed)
        told = []
        while not game.over:
            told.append({"role": "user", "content": game.turns()[-1].text})
            told.append({"role": "assistant", "content": say(told)})
            game.take(told[-1]["content"])
        trace = found[data.name]
        assert trace["ok"]
        assert trace["metrics"]["attempts"] == game.n_attempts
        assert trace["metrics"]["errors"] == game.n_errors
        assert trace["rewards"]["accepted"]["score"] == game.reward() > 0
