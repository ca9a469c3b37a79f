"""A study as a run folder: scored as its transcripts are, played again, and held to its boards."""

from __future__ import annotations

import numpy as np
import pytest

import gohr
from gnomon_board.studies.export import write_study_run
from gohr import ReferenceGame
from gohr.errors import ConfigError, RunFolderError
from gohr.experiments import score_trial, status, trials_of
from gohr.people import Game, PlayedGame, PlaySession, SeriesTerms
from gohr.rules import load_rule, load_rule_text
from gohr.run_page import findings_of
from runs import forge_experiment

TERMS, USUAL = SeriesTerms(), gohr.BoardSpec()


def played(player, rule, seed, *, boards=3, series=0, terms=TERMS, spec=USUAL, leaves=()):
    """Play at random, and leave early if asked."""
    game = Game("Puzzle", load_rule_text(rule), seed, boards, 40, spec, terms)
    session, rng = PlaySession(game, seen_at=1e9), np.random.default_rng(seed)
    while session.state != "ended":
        if session.state == "board over":
            session.next_board(now=1e9)
            continue
        if len(session.attempts) in leaves:
            session.give_up()
            break
        cells = [piece["cell"] for piece in session.view().pieces]
        if session.is_fixed:
            cells = sorted(session.movable_cells())
        session.attempt(int(rng.choice(cells)), int(rng.integers(4)), now=1e9)
    return PlayedGame(player, "a", series, rule, session)


@pytest.fixture(scope="module")
def games():
    return [
        played("p1", "clockwise", 1),
        played("p1", "color-match", 2, series=1),
        played("p1", "clockwise", 3, series=2, boards=2),
        played("p2", "clockwise", 4, leaves=(7,)),
        played("p3", "color-match", 5, leaves=(0,)),
        played("out", "clockwise", 6),
    ]


NUMBERS = {"p1": 0, "p2": 1, "p3": 2}


def test_it_is_scored_as_the_games_are_and_plays_again(games, tmp_path):
    run = write_study_run(tmp_path / "run", "pilot", games, NUMBERS)
    assert gohr.verify(run).ok
    counts = {(one.rule, one.done, one.missing) for one in status(run)}
    assert counts == {("clockwise", 2, 0), ("color-match", 1, 0), ("clockwise, again 1", 1, 0)}
    scores = gohr.score(run, "tce")
    for game in games:
        if game.player != "out" and game.session.attempts:
            task = game.rule + (", again 1" if game.series == 2 else "")
            at = scores.run_labels("people", task).index(NUMBERS[game.player])  # on every task
            assert scores.runs("people", task)[at] == score_trial(game.session.log(), "tce")
    (stopped,) = findings_of(run).stopped
    assert stopped == "1 of 2 of people on clockwise, the first after 1 of 3 episodes"


def test_where_only_movable_pieces_can_be_tried_chances_are_theirs(tmp_path):
    fixed = SeriesTerms(feedback="fixed")
    game = played("p1", "topmost-to-bucket-0", 1, terms=fixed, boards=2)
    run = write_study_run(tmp_path / "run", "pilot", [game], {"p1": 0})
    assert gohr.verify(run).ok
    expected = []
    for episode in range(2):
        table = ReferenceGame(load_rule("topmost-to-bucket-0"), game.session.board(episode))
        for attempt in (a for a in game.session.attempts if a.episode == episode):
            legal = table.legal_moves()
            expected.append(len(legal) / (4 * len({piece for piece, _ in legal})))
            table.attempt_at(attempt.cell, attempt.bucket)
    assert run.attempts()["p0"].tolist() == expected
    assert not played("p1", "clockwise", 1).session.log().only_movable


def test_what_was_changed_is_refused(games, tmp_path):
    run = write_study_run(tmp_path / "run", "pilot", games, NUMBERS)
    with pytest.raises(ConfigError, match="was played elsewhere"):
        gohr.run(run.config, run.path)
    assert gohr.verify(run).ok
    forge_experiment(run, lambda config: config.update(seed=9), hide=False)
    with pytest.raises(RunFolderError, match="experiment was changed"):
        gohr.verify(run)


def test_an_export_again_takes_the_place_of_its_own_run_alone(games, tmp_path):
    first = write_study_run(tmp_path / "run", "pilot", games[:1], NUMBERS)
    again = write_study_run(tmp_path / "run", "pilot", games, NUMBERS)
    assert (len(first.config.rules), len(again.config.rules)) == (1, 3)
    kept = {trial.key for trial in again.trials()}
    assert {x.key for x in trials_of(first.config)} < kept, "a person's trial keeps its name"
    with pytest.raises(RunFolderError, match="an older run of 'other' to be replaced"):
        write_study_run(tmp_path / "run", "other", games, NUMBERS)
    assert write_study_run(tmp_path / "none", "pilot", games[4:5], NUMBERS) is None


def test_boards_of_several_palettes_stand_in_one_run(games, tmp_path):
    few = gohr.BoardSpec(4, 2, 2, ("HEART", "STAR"), ("PINK", "RED"))
    other = played("p2", "color-match", 8, spec=few)
    run = write_study_run(tmp_path / "run", "pilot", [games[0], other], NUMBERS)
    assert gohr.verify(run).ok
    assert run.config.board.pieces == (4, 9)
    assert {"HEART", "SQUARE"} <= set(run.config.board.shape_palette)
