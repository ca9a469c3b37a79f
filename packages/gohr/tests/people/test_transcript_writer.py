"""What people played, in the reference's format: it gives the scores of their games."""

from __future__ import annotations

import numpy as np

from gohr.experiments import score_trial
from gohr.people import (
    Game,
    PlayedGame,
    PlaySession,
    attempts_to_master,
    boards_text,
    read_transcripts,
    score_series,
    transcript_text,
)
from gohr.rules import load_rule_text


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
    for game, read in zip(GAMES, read_transcripts(path), strict=True):
        assert score_trial(read.log, "tce") == score_trial(game.session.log(), "tce")


def test_it_is_scored_for_mastery_as_series_of_people(tmp_path):
    (tmp_path / "transcript.csv").write_text(transcript_text(GAMES))
    (tmp_path / "boards.csv").write_text(boards_text(GAMES))
    series = read_transcripts(tmp_path)
    found = score_series(series, target_streak=2)
    for game, one in zip(GAMES, series, strict=True):
        log = game.session.log()
        for field in ("boards", "n_attempts", "actions", "outcomes"):
            np.testing.assert_array_equal(getattr(one.log, field), getattr(log, field), field)
        accepted = [attempt.outcome == 0 for attempt in game.session.attempts]
        expected = attempts_to_master(accepted, target=2)
        assert found.runs(game.player, game.rule).tolist() == [expected]
    assert np.isfinite(score_series(series, "skill").to_polars()["score"].to_numpy()).all()


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


def test_a_line_of_the_boards_is_a_piece_as_it_was_dealt():
    rows = [line.split(",") for line in boards_text(GAMES[:1]).splitlines()[1:]]
    dealt = [p for e in range(3) for p in GAMES[0].session.board(e).pieces]
    assert [(int(row[2]), int(row[3]), int(row[4]), row[7]) for row in rows] == [
        (piece.id, piece.y, piece.x, f"{piece.color}_{piece.shape}") for piece in dealt
    ]
