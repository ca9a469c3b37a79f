"""A trial in words: the turns, and what becomes of answers."""

import numpy as np

from gohr import BoardSpec, draw_boards
from gohr.integrations import TrialInWords
from gohr.playing import TrialInPlay
from gohr.rules import parse
from integrations.chat_server import pieces

BY_COLOR = "(*,*,red,*,0) (*,*,black,*,1) (*,*,blue,*,2) (*,*,yellow,*,3)"
BUCKETS = {"red": 0, "black": 1, "blue": 2, "yellow": 3}


def trial(n_boards=1, rule=BY_COLOR, horizon=100, **settings):
    boards = draw_boards(n_boards, rng=np.random.default_rng(1))
    game = TrialInPlay(boards, parse(rule), horizon=horizon)
    return TrialInWords(game, BoardSpec(), **settings)


def move(turns, bucket=None):
    x, y, color, _ = pieces([{"content": turn.text} for turn in turns])[0]
    return f"I think of MOVE 9 9 9.\nMOVE {x} {y} {BUCKETS[color] if bucket is None else bucket}"


def play(game):
    """Answer as one who knows the rule; return all requests."""
    asked = []
    while not game.over:
        asked.append(game.turns())
        game.take(move(asked[-1]))
    return asked


def test_a_model_that_knows_the_rule_clears_boards():
    game = trial(2)
    asked = play(game)
    assert game.log().outcomes.tolist() == [0] * 18
    assert (game.n_errors, game.reward()) == (0, 1.0)
    system, user = asked[10]
    assert system.text.endswith("MOVE column row bucket")
    assert user.text.startswith("Attempts so far:\nBoard 1\n1. ")
    assert user.text.count(": yes") == 10
    assert "Board 2 now holds:\ncolumn " in user.text


def test_the_replies_are_the_words_of_the_browser():
    game = trial(rule="(*,square,*,*,0)", horizon=3)
    while not game.over:
        game.take(move(said := game.turns(), 1))
    assert ": no\n" in said[-1].text or ": not now\n" in said[-1].text
    assert "DENIED" not in said[-1].text


def test_a_caller_that_keeps_the_conversation_gets_the_last_reply():
    asked = play(trial(2, with_memory=False))
    assert all([turn.role for turn in turns] == ["system", "user"] for turns in asked)
    assert asked[0][-1].text.startswith("Board 1 now holds:")
    assert asked[9][-1].text.startswith("9. ")
    assert "That board is over." in asked[9][-1].text
    assert asked[12][-1].text.count(": yes") == 1


def test_an_unreadable_answer_is_asked_for_once_more_and_never_a_move():
    game = trial()
    board = game.turns()
    assert game.take("hm") is None
    assert [turn.role for turn in game.turns()] == ["system", "user", "assistant", "user"]
    assert game.take("hm") is None
    assert "could not be read so far: 1." in game.turns()[-1].text
    assert game.take(move(board), answered=False) is None  # cut off
    assert game.take(move(board)).outcome == 0
    assert (game.n_attempts, game.n_unreadable) == (1, 1)
    assert game.reward() == 0.5
    for _ in range(10):
        game.take("hm")
    assert game.given_up


def test_the_rule_is_asked_for():
    game = trial()
    play(game)
    [system, question] = game.statement_turns()
    assert system.role == "system"
    assert question.text.startswith("Attempts so far:\nBoard 1\n1. ")
    assert "What is the rule?" in question.text
