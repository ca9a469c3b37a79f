"""OpenEnv over loopback: two sessions, the boards of Gymnasium, and nothing of the rule."""

from __future__ import annotations

import socket
import threading
import time

import gymnasium
import numpy as np
import pytest

import gohr

pytest.importorskip("openenv", reason="openenv is not installed")

import uvicorn

from gohr.integrations.openenv import Attempt, HiddenRulesClient, app

pytestmark = pytest.mark.filterwarnings("default")
RULE = "clockwise"


@pytest.fixture(scope="module")
def address():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = uvicorn.Config(app(RULE, horizon=30), host="127.0.0.1", port=port, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    for _ in range(200):
        if server.started:
            break
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(timeout=20)


def test_two_sessions_play_as_gymnasium_does(address):
    envs = [gymnasium.make("gohr/HiddenRules-v0", rule=RULE, max_episode_steps=30) for _ in "ab"]
    with (
        HiddenRulesClient(base_url=address).sync() as first,
        HiddenRulesClient(base_url=address).sync() as second,
    ):
        rng = np.random.default_rng(0)
        clients = [first, second]
        masks = []
        for k, (client, env) in enumerate(zip(clients, envs, strict=True)):
            native, info = env.reset(seed=k + 1)
            assert client.reset(seed=k + 1).observation.board == native["board"].tolist()
            masks.append(info["action_mask"])
        over = [False, False]
        errors = [0, 0]
        while not all(over):
            for k in (k for k in (0, 1) if not over[k]):
                action = int(rng.choice(np.flatnonzero(masks[k])))
                native, reward, terminated, truncated, info = envs[k].step(action)
                found = clients[k].step(Attempt(cell=action // 4, bucket=action % 4))
                seen = found.observation
                assert seen.board == native["board"].tolist()
                assert (seen.shape, seen.color, seen.bucket, seen.outcome) == (
                    native["shape"], native["color"], native["bucket"], info["outcome"],
                )  # fmt: skip
                assert (found.reward, found.done) == (reward, terminated or truncated)
                errors[k] += info["outcome"] != 0
                masks[k], over[k] = info["action_mask"], terminated or truncated
        for client, n in zip(clients, errors, strict=True):
            state = client.state()
            assert state.errors == n
            assert "p+1" not in state.model_dump_json()


def test_who_plays_by_the_rule_clears_the_board_and_a_wrong_bucket_is_refused(address):
    env = gohr.HiddenRulesEnv(RULE, reveal=True)
    with HiddenRulesClient(base_url=address).sync() as client:
        client.reset(seed=3)
        _, info = env.reset(seed=3)
        attempt = Attempt(cell=0, bucket=0)
        wrong = attempt.model_construct(cell=0, bucket=9)
        with pytest.raises(RuntimeError, match="VALIDATION_ERROR"):
            client.step(wrong)
        done = False
        while not done:
            action = int(np.flatnonzero(info["permitted"])[0])
            *_, info = env.step(action)
            found = client.step(Attempt(cell=action // 4, bucket=action % 4))
            assert found.reward == 0
            done = found.done
        assert client.state().errors == 0
        assert not any(found.observation.board)
