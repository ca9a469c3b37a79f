"""A trial played move by move through the server is the trial that a learner plays at home."""

from __future__ import annotations

import numpy as np
import pytest

import gohr
from gohr.learners import Uniform
from remote_play import assigned, begin, hidden_season, move, work_off

pytestmark = pytest.mark.usefixtures("programs_here")

FEW = {"pieces": [1, 3], "shapes": [0, 0], "colors": [0, 0]}
NINE = {"pieces": [9, 9], "shapes": [4, 4], "colors": [4, 4]}
# A rule by lines and counts, one that is often stuck, and one that the engine has no tables for.
# The server draws the boards: two in seven of the second rule are stuck from the start.
RULES = {
    "counted": ("1 (*,*,*,*,[0,1])\n(*,*,*,*,[2,3])", NINE),
    "stuck": ("(*,*,[red,black],*,[0,1])", FEW, 40),
    "interpreted": ("(color:q.bucket.color) (*,*,*,*,[0,1])", NINE),
}


@pytest.fixture
def game(client, database, token, tmp_path):
    """Begin a trial; return it, its assignment, and what makes attempts in it."""

    def begun(text, board=NINE, episodes=12):
        season = {"rules_per_attempt": 1, "episodes": episodes, "horizon": 8, "board": board}
        hidden_season(database, texts=[text], **season)
        play = begin(client, token)
        trial = play["trials"][0]["trial"]

        def moved(position, actions):
            answer = move(client, token, (trial, position, actions))
            assert answer.status_code == 200, answer.text
            return answer.json()["replies"][0]

        return trial, assigned(client, database, play["entry"], tmp_path), moved

    return begun


@pytest.mark.parametrize("together", [1, 5])
@pytest.mark.parametrize("name", RULES)
def test_what_is_told_is_the_trial_at_home(app, client, database, settings, game, name, together):
    """From the replies alone the whole log can be written down, also by a server that forgets."""
    trial, assignment, moved = game(*RULES[name])
    [rule] = assignment.rules
    learner, options = Uniform(rng=np.random.default_rng(1)), {"board_spec": assignment.board}
    boards = assignment.deal(rule, 0)
    log = gohr.play(boards, learner, rule.rule_set, horizon=8, **options)
    assert name != "stuck" or (log.n_attempts == 0).any()
    actions, reply = log.actions.tolist(), moved(0, [])
    dealt, outcomes, told = reply["dealt"], [], []
    n_attempts, finish = [0] * len(dealt), [2] * len(dealt)
    while not reply["over"]:
        asked = reply["position"], actions[reply["position"] :][:together]
        reply = moved(*asked)
        told.append((*asked, reply))
        outcomes += reply["outcomes"]
        n_attempts[-1] += len(reply["outcomes"])
        finish[-1] = reply["finish"]
        assert reply["ended"] == bool(reply["dealt"] or reply["over"])
        n_attempts += [0] * len(reply["dealt"])
        finish += [2] * len(reply["dealt"])
        dealt += reply["dealt"]
        assert reply["episode"] == (len(boards) if reply["over"] else len(dealt) - 1)
        if len(told) % 7 == 0:
            app.state.board.trials.take(trial)
    assert dealt == log.boards.tolist()
    assert outcomes == log.outcomes.tolist()
    assert n_attempts == log.n_attempts.tolist()
    assert finish == log.finish.tolist()
    assert all(moved(position, sent) == said for position, sent, said in told)
    work_off(database, settings)
    [submission] = client.get("/api/seasons/s1/submissions").json()
    assert (submission["state"], submission["n_attempts"]) == ("verified", len(actions))


def test_attempts_after_the_end_of_an_episode_are_not_made(game):
    _, _, moved = game(RULES["counted"][0])
    [board] = moved(0, [])["dealt"]
    piece = 4 * next(cell for cell, code in enumerate(board) if code)
    reply = moved(0, [piece + 2, *[4 * board.index(0)] * 20])
    assert reply["outcomes"] == [4, *[3] * 7]
    assert (reply["ended"], reply["finish"], reply["episode"]) == (True, 0, 1)
    assert reply["position"] == 8


def test_a_trial_of_stuck_boards_alone_is_over_at_once(client, database, settings, game):
    _, _, moved = game("(0,*,*,*,1)")
    reply = moved(0, [])
    assert (reply["over"], len(reply["dealt"]), reply["episode"]) == (True, 12, 12)
    assert moved(0, [1])["outcomes"] == []
    work_off(database, settings)
    [submission] = client.get("/api/seasons/s1/submissions").json()
    assert (submission["state"], submission["n_attempts"]) == ("verified", 0)
