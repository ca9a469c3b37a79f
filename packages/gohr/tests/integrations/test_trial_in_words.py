"""A trial in words: the turns, and what becomes of answers."""

import json

import numpy as np
import pytest

from gohr.game import DEFAULT_SPEC, draw_boards
from gohr.integrations import TrialInWords, instructions
from gohr.playing import TrialInPlay
from gohr.rules import parse
from integrations.chat_server import pieces

BY_COLOR = "(*,*,red,*,0) (*,*,black,*,1) (*,*,blue,*,2) (*,*,yellow,*,3)"
BUCKETS = {"red": 0, "black": 1, "blue": 2, "yellow": 3}


def trial(n_boards=1, rule=BY_COLOR, horizon=100, **settings):
    boards = draw_boards(n_boards, rng=np.random.default_rng(1))
    game = TrialInPlay(boards, parse(rule), horizon=horizon)
    return TrialInWords(game, DEFAULT_SPEC, **settings)


def move(turns, bucket=None):
    x, y, color, _ = pieces([{"content": turn.text} for turn in turns])[0]
    return f"I think of MOVE 9 9 9.\nMOVE {x} {y} {BUCKETS[color] if bucket is None else bucket}"


def play(game, n=1000, tokens=None):
    """Answer as one who knows the rule; return all requests."""
    asked = []
    while not game.over and len(asked) < n:
        asked.append(game.turns())
        game.take(move(asked[-1]))
        if tokens:
            game.shorten(sum(len(turn.text) for turn in asked[-1]) // 4, tokens)
    return asked


def test_a_model_that_knows_the_rule_clears_boards():
    game = trial(2)
    asked = play(game)
    assert game.log().outcomes.tolist() == [0] * 18
    assert (game.n_errors, game.reward()) == (0, 1.0)
    system, user = asked[10]
    assert system.text == instructions("line")
    assert user.text.startswith("Attempts so far:\nBoard 1\n1. ")
    assert user.text.count(": yes") == 10
    assert "Board 2 holds now:\ncolumn " in user.text


def test_the_replies_are_the_words_of_the_browser():
    game = trial(rule="(*,square,*,*,0)", horizon=3)
    while not game.over:
        game.take(move(said := game.turns(), 1))
    assert ": no\n" in said[-1].text or ": not now\n" in said[-1].text
    assert "DENIED" not in said[-1].text


def test_a_conversation_grows_and_its_oldest_boards_are_summarised():
    asked = play(trial(3, mode="conversation"))
    roles = [turn.role for turn in asked[8]]
    assert roles == ["system", *["user", "assistant"] * 8, "user"]
    assert len(asked[-1]) == 2 + 2 * 26
    assert asked[9][-1].text.startswith("9. ")
    assert "That board is over." in asked[9][-1].text
    turns = play(trial(3, mode="conversation", context_tokens=1500), tokens=1500)[-1]
    assert turns[1].text.startswith("Attempts so far:\nBoard 1\n1. ")
    assert turns[2].text == "I remember."
    assert len(turns) < 2 + 2 * 26


def test_an_unreadable_answer_is_asked_for_once_more_and_never_a_move():
    game = trial()
    board = game.turns()
    assert game.take("hm") is None
    assert [turn.role for turn in game.turns()] == ["system", "user", "assistant", "user"]
    assert game.take("hm") is None
    assert "1 of your answers could not be read." in game.turns()[-1].text
    assert game.take(move(board), answered=False) is None  # cut off
    assert game.take(move(board)).outcome == 0
    assert (game.n_attempts, game.n_unreadable) == (1, 1)
    assert game.reward() == 0.5
    for _ in range(10):
        game.take("hm")
    assert game.given_up


@pytest.mark.parametrize(("form", "answer"), [("grid", "line"), ("picture", "json")])
def test_a_board_as_grid_and_as_picture(form, answer):
    game = trial(observation=form, answer=answer)
    shown = game.turns()[-1]
    assert ("(0) +------" in shown.text) == (form == "grid")
    assert (shown.picture or b"").startswith(b"\x89PNG") == (form == "picture")
    assert game.turns()[0].text == instructions(answer)
    cell = int(np.flatnonzero(game.observation.board)[0])
    said = json.dumps({"column": cell % 6 + 1, "row": cell // 6 + 1, "bucket": 0})
    assert (game.take(said) is None) == (answer == "line")


def test_the_rule_is_asked_for():
    game = trial()
    play(game)
    [system, question] = game.statement_turns()
    assert system.role == "system"
    assert question.text.startswith("Attempts so far:\nBoard 1\n1. ")
    assert "What is the rule? Answer with its text in the rule language" in question.text
