"""Transcripts of people: written as the reference does, read as trials, scored, and refused."""

from __future__ import annotations

import numpy as np
import pytest

import gnomon as gn
from gnomon.errors import ScoreDataError
from gohr.experiments import score_trial
from gohr.learners import chance_of_success
from gohr.people import (
    Game,
    PlayedGame,
    PlaySession,
    attempts_to_master,
    read_transcripts,
    score_series,
    transcript_text,
)
from gohr.rules import load_rule, load_rule_text

TRANSCRIPT = (
    "playerId,trialListId,seriesNo,ruleId,episodeNo,episodeId,moveNo,timestamp,mover,"
    "reactionTime,objectType,objectId,y,x,bucketId,by,bx,code,objectCnt"
)


def line(episode=0, move=0, code=0, bucket=3, left=8, player="p1", rule="clockwise", mover=0):
    place = {None: ",,", 3: "3,0,0", 1: "1,7,7"}[bucket]
    return (
        f"{player},a,0,{rule},{episode},e{episode},{move},20260101-000000.000,{mover},1.5,"
        f"RED_STAR,0,2,1,{place},{code},{left}"
    )


def written(folder, *lines, name="transcript.csv"):
    (folder / name).write_text("\n".join([f"#{TRANSCRIPT}", *lines]) + "\n")
    return folder / name


def test_lines_are_attempts_and_those_of_two_files_count_once(tmp_path):
    lines = [
        line(code=4),
        line(player="p2", bucket=1),
        line(move=1, bucket=None),  # an accepted pick is no attempt
        line(move=2, bucket=None, code=7),
        line(move=3, bucket=1, left=0),
        line(episode=2, bucket=1),  # episode 1 had no attempt
    ]
    written(tmp_path, *lines)
    written(tmp_path, *lines, name="again.csv")
    series, other = read_transcripts(tmp_path)
    assert (other.player, other.log.actions.tolist()) == ("p2", [25])
    assert series.log.n_attempts.tolist() == [3, 0, 1]
    assert series.log.actions.tolist() == [27, 24, 25, 25]
    assert series.log.outcomes.tolist() == [4, 7, 0, 0]
    assert series.log.finish.tolist() == [1, 0, 0]
    assert not series.boards_known
    assert score_series([series], "tce").runs("p1", "clockwise").tolist() == [2]
    by_episode = score_series([series], "errors_per_episode").to_polars()
    assert by_episode.select("step", "score").rows() == [(1, 2), (2, 0), (3, 0)]
    found = score_series([series], target_streak=2, by="people")
    assert found.runs("people", "clockwise").tolist() == [2]
    assert found.run_labels("people", "clockwise") == ("p1 0",)
    assert found.to_polars()["n_attempts"].to_list() == [4]
    assert score_series([series]).to_polars()["censored"].to_list() == [True]


def test_every_verb_reads_the_scores_of_attempts(tmp_path):
    path = written(
        tmp_path, *(line(move=k, code=4 * (k < 2), left=21 - max(k, 1)) for k in range(12))
    )
    assert gn.read_scores(path, metric="m_star").runs("p1", "clockwise").tolist() == [2]
    assert gn.read_scores(path).runs("p1", "clockwise").tolist() == [2]  # errors


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([line(code=5)], r"column 'code': expected one of 0, 4, 7, found '5'"),
        ([line(mover=1)], r"column 'mover': expected -1 to 0"),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path, lines, message):
    with pytest.raises(ScoreDataError, match=message):
        read_transcripts(written(tmp_path, *lines))


def test_what_cannot_be_scored_is_refused(tmp_path):
    series = read_transcripts(written(tmp_path, line(rule="no-such-rule")))
    with pytest.raises(ScoreDataError, match="skill needs the boards"):
        score_series(series, "skill")
    with pytest.raises(ScoreDataError, match="tce: a target is for m_star"):
        score_series(series, "tce", target_streak=3)
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ScoreDataError, match=r"other\.csv: expected a transcript of people"):
        read_transcripts(tmp_path / "other.csv")


# -- writing ---------------------------------------------------------------------------------------


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
    path.write_text(transcript_text(GAMES)[0])
    for game, read in zip(GAMES, read_transcripts(path), strict=True):
        assert score_trial(read.log, "tce") == score_trial(game.session.log(), "tce")


def test_it_is_scored_for_mastery_as_series_of_people(tmp_path):
    for name, text in zip(("transcript", "boards"), transcript_text(GAMES), strict=True):
        (tmp_path / f"{name}.csv").write_text(text)
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


def test_a_likelihood_ratio_is_that_of_knowing_and_not_knowing(tmp_path):
    """One bucket is right for each of the N pieces that can be moved: 4 times for one success."""
    rule = "topmost-to-bucket-0"
    game = played("p1", rule, 4)
    for name, text in zip(("transcript", "boards"), transcript_text([game]), strict=True):
        (tmp_path / f"{name}.csv").write_text(text)
    log = game.session.log()
    possible = 1 / chance_of_success(load_rule(rule), log)
    good, series = log.outcomes == 0, read_transcripts(tmp_path)
    assert (possible[good] >= 4).all()
    for target_r in (4.0, 30.0, 300.0):
        expected = attempts_to_master(good, target=None, ratios=possible, target_r=target_r)
        found = score_series(series, target_r=target_r).runs("p1", rule)
        assert found.tolist() == [expected], target_r


def test_every_attempt_is_a_line_with_its_time_and_place():
    lines = transcript_text(GAMES[:1])[0].splitlines()
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
    text, _ = transcript_text([PlayedGame("p", "", 0, "clockwise", session)])
    assert len(text.splitlines()) == 2
    assert text.splitlines()[1].split(",")[6] == "0"


def test_a_line_of_the_boards_is_a_piece_as_it_was_dealt():
    rows = [line.split(",") for line in transcript_text(GAMES[:1])[1].splitlines()[1:]]
    dealt = [p for e in range(3) for p in GAMES[0].session.board(e).pieces]
    assert [(int(row[2]), int(row[3]), int(row[4]), row[7]) for row in rows] == [
        (piece.id, piece.y, piece.x, f"{piece.color}_{piece.shape}") for piece in dealt
    ]
