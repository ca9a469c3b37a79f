"""Hints of a bot: how often they are bad, when they come, and whether they were followed."""

from __future__ import annotations

import csv

import numpy as np

from gnomon.game import Board, Piece, ReferenceGame
from gnomon.rules import parse
from gnomon.studies import Game, PlayedGame, PlaySession, SeriesTerms, transcript_text
from gnomon.studies.plan.series_plan import BotAssist
from gnomon.studies.play.bot_assist import hint_for

HUE = "(*,*,RED,*,0) (*,*,BLACK,*,1) (*,*,BLUE,*,2) (*,*,YELLOW,*,3)"
FIRST_RED = "(*,*,RED,*,*)\n(*,*,*,*,*)"
BUCKETS = {"RED": 0, "BLACK": 1, "BLUE": 2, "YELLOW": 3}
BOARD = Board((Piece(0, 8, "STAR", "RED"), Piece(1, 9, "STAR", "BLUE")))


def hints(rule, n_attempts, *, only_movable=False, **plan):
    table = ReferenceGame(parse(rule), BOARD)
    rng = np.random.default_rng(0)
    settings = BotAssist(**plan)
    return [
        hint_for(table, settings, n_attempts, only_movable=only_movable, rng=rng)
        for _ in range(2000)
    ]


def is_good(hint):
    return hint.bucket == (0 if hint.cell == 8 else 2)


def test_bad_hints_halve_in_time():
    for n, expected in ((0, 0.6), (4, 0.3), (8, 0.15)):
        bad = [not is_good(hint) for hint in hints(HUE, n, halftime=4, error_rate=0.6)]
        assert abs(np.mean(bad) - expected) < 4 * np.sqrt(expected * (1 - expected) / 2000)
    assert all(map(is_good, hints(HUE, 0, halftime=0, error_rate=1)))


def test_a_hint_says_how_sure_the_bot_is_unless_it_keeps_that_to_itself():
    assert {hint.confidence for hint in hints(HUE, 4, halftime=4, error_rate=0.75)} == {62}
    quiet = hints(HUE, 4, halftime=4, error_rate=0.75, confidence=False)
    assert {hint.confidence for hint in quiet} == {None}


def test_a_bad_hint_may_be_a_piece_that_cannot_be_moved_unless_these_are_marked():
    bad = hints(FIRST_RED, 0, halftime=8, error_rate=1)
    assert {hint.cell for hint in bad} == {9}
    # Red may go anywhere, so that with marked pieces no hint is bad.
    marked = hints(FIRST_RED, 0, halftime=8, error_rate=1, only_movable=True)
    assert {hint.cell for hint in marked} == {8}


def test_hints_come_after_the_first_attempt_and_stay_until_the_next():
    terms = SeriesTerms(bot_assist={"halftime": 2}, pick_cost=1.0)
    played = PlaySession(Game("p", HUE, 3, 2, 40, terms=terms))
    assert played.view().hint is None
    rng, followed = np.random.default_rng(1), []
    while played.state == "playing":
        hint = played.hint
        cells = [piece["cell"] for piece in played.view().pieces]
        cell, bucket = int(rng.choice(cells)), int(rng.integers(4))
        if hint is not None and rng.random() < 0.5:
            cell, bucket = hint.cell, hint.bucket
        followed.append(hint is not None and (cell, bucket) == (hint.cell, hint.bucket))
        played.attempt(cell, bucket)
        if played.state == "playing":
            before = played.hint
            played.attempt(played.view().pieces[0]["cell"], None)
            followed.append(False)
            assert played.hint == before
            again = PlaySession(played.game, played.attempts)
            assert again.view() == played.view()
    assert played.view().hint is None
    assert any(followed)
    lines = transcript_text([PlayedGame("p", "a", 0, "hue", played)]).splitlines()
    rows = list(csv.DictReader(lines))
    assert [row["followed"] == "1" for row in rows] == followed
