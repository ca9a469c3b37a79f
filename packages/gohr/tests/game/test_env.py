"""The single environment keeps Gymnasium's contract, and tells no more than a player may know."""

from __future__ import annotations

import re
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import gohr
from gnomon.errors import UnknownNameError
from gohr import Board, HiddenRulesEnv, HistoryStack, LastSuccess, Piece, ReferenceGame
from gohr.errors import RuleError
from gohr.rules import parse

IDS = [f"gohr/{name}-v0" for name in
       ("HiddenRules", "ColorMatch", "Clockwise", "B23ThenB01", "B3ThenB1")]  # fmt: skip


@pytest.mark.parametrize("env_id", IDS)
@pytest.mark.parametrize("render_mode", [None, "ansi", "rgb_array"])
def test_check_env_is_clean(env_id: str, render_mode: str | None) -> None:
    env = gymnasium.make(env_id, render_mode=render_mode)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)


def test_the_observation_is_what_the_specification_says() -> None:
    env = gymnasium.make("gohr/ColorMatch-v0")
    observation, info = env.reset(seed=0)
    assert set(observation) == {"board", "shape", "color", "bucket"}
    assert observation["board"].shape == (36,)
    assert env.action_space == gymnasium.spaces.Discrete(144)
    assert info["action_mask"].dtype == np.int8
    assert (info["action_mask"] == np.repeat(observation["board"] > 0, 4)).all()
    assert (env.unwrapped.action_masks() == info["action_mask"].astype(bool)).all()


def test_rewards_outcomes_and_the_last_accepted_attempt() -> None:
    board = Board((Piece(0, 8, "STAR", "BLUE"), Piece(1, 1, "CIRCLE", "RED")))
    env = HiddenRulesEnv("color-match")
    env.reset(seed=0, options={"board": board})

    def attempt(pos: int, bucket: int) -> tuple[float, bool, int]:
        _, reward, terminated, truncated, info = env.step(4 * (pos - 1) + bucket)
        assert not truncated
        return reward, terminated, info["outcome"]

    assert attempt(36, 0) == (-1.0, False, 3)
    assert attempt(8, 1) == (-1.0, False, 4)
    assert attempt(8, 0) == (0.0, False, 0)
    observation, *_ = env.step(0)
    assert (observation["shape"], observation["color"], observation["bucket"]) == (2, 3, 1)
    assert attempt(1, 3) == (0.0, True, 0)
    assert attempt(1, 3) == (0.0, True, -4)


def test_a_stalemate_terminates() -> None:
    board = Board((Piece(0, 8, "STAR", "BLUE"), Piece(1, 1, "CIRCLE", "RED")))
    env = HiddenRulesEnv(parse("(*,star,*,*,0)"))
    _, info = env.reset(options={"board": board})
    assert not info["stalemate"]
    _, reward, terminated, _, info = env.step(4 * 7)
    assert (reward, terminated, info["stalemate"]) == (0.0, True, True)


def test_a_board_dealt_stuck_is_told_at_reset_and_ends_at_the_first_step() -> None:
    env = HiddenRulesEnv(parse("(*,star,*,*,0)"))
    _, info = env.reset(options={"board": Board((Piece(0, 1, "CIRCLE", "RED"),))})
    assert info["stalemate"]
    _, reward, terminated, _, info = env.step(0)
    assert (reward, terminated, info["outcome"]) == (0.0, True, -4)


def test_the_horizon_truncates() -> None:
    env = gymnasium.make("gohr/ColorMatch-v0")
    observation, _ = env.reset(seed=1)
    empty = 4 * int(np.flatnonzero(observation["board"] == 0)[0])
    ends = [env.step(empty)[2:4] for _ in range(100)]
    assert ends == [(False, False)] * 99 + [(False, True)]


def test_what_was_returned_before_stays_as_it_was() -> None:
    env = gymnasium.make("gohr/Clockwise-v0")
    observation, info = env.reset(seed=2)
    before = observation["board"].copy()
    env.step(int(np.flatnonzero(info["action_mask"])[0]))
    assert (observation["board"] == before).all()


def test_nothing_tells_what_the_rule_permits_unless_it_is_asked_for() -> None:
    env = gymnasium.make("gohr/Clockwise-v0")
    _, info = env.reset(seed=0)
    assert set(info) == {"action_mask", "outcome", "stalemate"}
    assert env.unwrapped.metadata["reveal"] is False
    told = gymnasium.make("gohr/Clockwise-v0", reveal=True)
    _, info = told.reset(seed=0)
    assert told.unwrapped.metadata["reveal"] is True
    assert told.step(int(np.flatnonzero(info["permitted"])[0]))[1] == 0.0
    assert HiddenRulesEnv.metadata.get("reveal") is None


def test_the_same_seed_gives_the_same_boards() -> None:
    def boards() -> list[np.ndarray]:
        env = gymnasium.make("gohr/Clockwise-v0")
        return [env.reset(seed=None if k else 5)[0]["board"] for k in range(70)]

    assert all((a == b).all() for a, b in zip(boards(), boards(), strict=True))


def test_a_board_of_ones_own_does_not_move_the_sequence_of_boards() -> None:
    env = gymnasium.make("gohr/Clockwise-v0")
    env.reset(seed=5)
    second = env.reset()[0]["board"]
    env.reset(seed=5)
    own = gohr.draw_boards(1, rng=9)[0]
    assert (env.reset(options={"board": own})[0]["board"] == own).all()
    assert (env.reset()[0]["board"] == second).all()


def test_the_environment_plays_as_the_reference_interpreter_does() -> None:
    env = HiddenRulesEnv("b23-then-b01", reveal=True)
    rng = np.random.default_rng(0)
    for seed in range(5):
        observation, info = env.reset(seed=seed)
        game = ReferenceGame(gohr.load_rule("b23-then-b01"), Board.from_codes(observation["board"]))
        terminated = False
        while not terminated:
            pos_of = {p.id: p.pos for p in game.pieces}
            permitted = [(1 + a // 4, a % 4) for a in np.flatnonzero(info["permitted"]).tolist()]
            assert permitted == sorted((pos_of[i], b) for i, b in game.legal_moves())
            action = int(rng.integers(144))
            _, _, terminated, _, info = env.step(action)
            assert info["outcome"] == game.attempt_at(1 + action // 4, action % 4)
        assert game.finish == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: HiddenRulesEnv("clockwize"), "rule or file 'clockwize'; did you mean 'clockwise'"),
        (lambda: HiddenRulesEnv(render_mode="human"), "render_mode"),
        (lambda: HiddenRulesEnv(board={"pieces": 40}), "pieces: expected between 1 and 36, found"),
        (lambda: HiddenRulesEnv(board={"peices": 3}), "field of a board 'peices'; did you mean 'p"),
        (lambda: HiddenRulesEnv(board=3), "board: expected a BoardSpec or its fields, found 3"),
        (lambda: HiddenRulesEnv().reset(options={"bord": 1}), "options: expected 'board', found"),
        (lambda: HiddenRulesEnv().reset(options={"board": [1, 2]}), "board: expected 36 codes"),
        (lambda: HiddenRulesEnv().reset(options={"board": [0.5] * 36}), "from 0 to 16, found [0.5"),
        (lambda: HiddenRulesEnv().reset(options={"board": Board((Piece(0, 0, "STAR", "RED"),))}),
         "board: expected a cell from 1 to 36, found 0"),
        (lambda: HistoryStack(HiddenRulesEnv(), 2).step(200), "integer from 0 to 143, found 200"),
        (lambda: HiddenRulesEnv().step(144), "expected an integer from 0 to 143, found 144"),
        (lambda: HistoryStack(gymnasium.make(IDS[0]), k=0), "k: expected at least 1, found 0"),
        (lambda: HistoryStack(HiddenRulesEnv()), "an environment with max_episode_steps"),
    ],
)  # fmt: skip
def test_misuse_is_told(make, message: str) -> None:
    with pytest.raises((ValueError, TypeError, UnknownNameError), match=re.escape(message)):
        make()


def test_a_rule_that_cannot_be_played_is_refused() -> None:
    with pytest.raises(RuleError, match="line 2, column 1: arithmetic needs numbers"):
        HiddenRulesEnv(parse("(*,*,*,*,0)\n(*,*,*,*,this.color+1)"))


def test_boards_are_rendered_as_text_and_pictures() -> None:
    env = gymnasium.make("gohr/Clockwise-v0", render_mode="ansi")
    env.reset(seed=0)
    assert env.render().count("\n") == 8
    env = gymnasium.make("gohr/Clockwise-v0", render_mode="rgb_array")
    env.reset(seed=0)
    assert env.render().shape == (256, 256, 3)


@pytest.mark.parametrize("wrap", [LastSuccess, lambda e: HistoryStack(e, 4), HistoryStack])
def test_wrappers_keep_the_contract(wrap) -> None:
    env = wrap(gymnasium.make("gohr/Clockwise-v0"))
    observation, info = env.reset(seed=0)
    assert observation in env.observation_space
    for _ in range(150):
        observation, _, terminated, truncated, info = env.step(
            env.action_space.sample(info["action_mask"])
        )
        assert observation in env.observation_space
        if terminated or truncated:
            observation, info = env.reset()
    assert env.spec.additional_wrappers[-1].name == type(env).__name__


def test_the_history_holds_the_attempts_the_newest_last() -> None:
    board = Board((Piece(0, 8, "STAR", "BLUE"), Piece(1, 1, "CIRCLE", "RED")))
    env = HistoryStack(gymnasium.make("gohr/ColorMatch-v0"), k=3)
    env.reset(options={"board": board})
    env.step(4 * 7 + 2)
    observation, *_ = env.step(4 * 7 + 0)
    assert observation["history"].tolist() == [[0] * 5, [8, 3, 2, 3, 0], [8, 1, 2, 3, 1]]
    observation, *_ = env.step(4 * 35 + 1)
    assert observation["history"][-1].tolist() == [36, 2, 0, 0, 0]


def test_a_permitted_attempt_is_drawn_from_the_mask() -> None:
    env = HiddenRulesEnv("color-match", reveal=True)
    _, info = env.reset(seed=0)
    mask = info["permitted"]
    env.action_space.seed(1)
    drawn = {int(env.action_space.sample(mask)) for _ in range(400)}
    assert drawn == set(np.flatnonzero(mask).tolist())
    # As Gymnasium has it, of an empty mask the first.
    assert env.action_space.sample(np.zeros(144, np.int8)) == 0
