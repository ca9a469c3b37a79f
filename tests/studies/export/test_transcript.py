"""What people played, in the reference's format and as scores: both tell the same."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.errors import ScoreDataError
from gnomon.experiments import attempts_to_master, measure_series, read_series, score_series
from gnomon.experiments.game_log_reader import read_game_log
from gnomon.rules import load_rule_text
from gnomon.studies import Game, PlayedGame, PlaySession, play_scores, transcript_text


def played(player: str, rule: str, seed: int, *, boards: int = 3, series: int = 0) -> PlayedGame:
    game = Game("Puzzle 1", load_rule_text(rule), seed, boards, 30)
    session, rng, now = PlaySession(game, seen_at=1e9), np.random.default_rng(seed), 1e9
    while session.state != "ended":
        if session.state == "board over":
            session.next_board(now=now)
            continue
        cell = int(rng.choice([piece["cell"] for piece in session.view().pieces]))
        now += 0.75
        session.attempt(cell, int(rng.integers(4)), now=now)
    return PlayedGame(player, "a", series, rule, session)


GAMES = [
    played("p1", "clockwise", 1),
    played("p1", "color-match", 2, series=1),
    played("p2", "clockwise", 3),
]


def test_the_reader_of_the_reference_transcripts_finds_the_same_scores(tmp_path):
    path = tmp_path / "transcript.csv"
    path.write_text(transcript_text(GAMES))
    read, ours = read_game_log(path), play_scores(GAMES)
    for player, rule in [("p1", "clockwise"), ("p1", "color-match"), ("p2", "clockwise")]:
        assert read.runs(player, rule).tolist() == ours.runs(player, rule).tolist()
    assert ours.attributes == ("rule_list", "series", "n_boards")


def test_it_is_scored_for_mastery_as_series_of_people(tmp_path):
    (tmp_path / "transcript.csv").write_text(transcript_text(GAMES))
    series = read_series([tmp_path / "transcript.csv"])
    measured = measure_series(series, target_streak=2, precedence="ignore", with_chances=True)
    found = score_series(measured)
    for game in GAMES:
        accepted = [attempt.outcome == 0 for attempt in game.session.attempts]
        expected = attempts_to_master(accepted, target=2)
        assert found.runs(game.player, game.rule).tolist() == [expected]
    aai = score_series(measured, "aai").frame["score"].to_numpy()
    assert np.isfinite(aai).all()


def test_every_attempt_is_a_line_with_its_time_and_place():
    lines = transcript_text(GAMES[:1]).splitlines()
    session = GAMES[0].session
    assert len(lines) == 1 + len(session.attempts)
    header, first = lines[0].removeprefix("#").split(","), lines[1].split(",")
    row = dict(zip(header, first, strict=True))
    attempt = session.attempts[0]
    assert row["timestamp"] == "20010909-014640.750"
    assert row["reactionTime"] == "0.750"
    assert int(row["code"]) == attempt.outcome
    assert (int(row["y"]) - 1) * 6 + int(row["x"]) == attempt.cell


def test_attempts_on_empty_cells_leave_no_line():
    session = PlaySession(Game("p", load_rule_text("clockwise"), 0, 1, 30))
    taken = {piece["cell"] for piece in session.view().pieces}
    session.attempt(min(set(range(1, 37)) - taken), 0)
    session.attempt(min(taken), 0)
    text = transcript_text([PlayedGame("p", "", 0, "clockwise", session)])
    assert len(text.splitlines()) == 2
    assert text.splitlines()[1].split(",")[6] == "0"


def test_people_can_be_one_algorithm():
    table = play_scores(GAMES, by="people")
    assert table.algorithms == ("people",)
    assert table.runs("people", "clockwise").size == 2


def test_a_rule_that_was_not_found_is_censored():
    table = play_scores(GAMES, "errors_to_learn")
    assert np.isinf(table.runs("p1", "clockwise")).all()


def test_no_games_are_no_scores():
    idle = PlayedGame("p", "", 0, "clockwise", PlaySession(Game("p", "(*,*,*,*,*)", 0)))
    with pytest.raises(ScoreDataError):
        play_scores([idle])
