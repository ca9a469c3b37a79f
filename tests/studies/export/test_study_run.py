"""A study as a run folder: scored as its transcripts are, played again, and held to its boards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gnomon as gn
from gnomon.errors import ConfigError, DegenerateScoresWarning, RunFolderError
from gnomon.experiments import measure_series, read_series, repair, score_series, status
from gnomon.game import Board, Piece
from gnomon.report import findings_of
from gnomon.rules import load_rule_text
from gnomon.studies import Game, PlayedGame, PlaySession, SeriesTerms, transcript_text
from gnomon.studies.export.study_run import by_kind, write_study_run
from gnomon.studies.export.transcript import boards_text
from gnomon.studies.play.play_rewards import movable_cells
from gnomon.studies.play.turns import Seats

PICKS, USUAL = SeriesTerms(pick_cost=1.0), gn.BoardSpec()


def played(
    player,
    rule,
    seed,
    *,
    boards=3,
    series=0,
    terms=PICKS,
    spec=USUAL,
    leaves=(),
    seats=None,
    **more,
):
    """Let somebody, or two, play at random, pick now and then, and perhaps leave at some time."""
    game = Game("Puzzle", load_rule_text(rule), seed, boards, 40, spec, terms, seats)
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
            cells = sorted(movable_cells(session.table))
        bucket = None if terms.pick_cost and rng.random() < 0.2 else int(rng.integers(4))
        session.attempt(int(rng.choice(cells)), bucket, now=1e9, mover=session.turn)
    return PlayedGame(player, "a", series, rule, session, **more)


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


def test_it_is_scored_as_the_transcript_is_and_plays_again(games, tmp_path):
    run = write_study_run(tmp_path / "run", "pilot", games, NUMBERS)
    assert gn.verify(run).ok
    counts = {(one.rule, one.done, one.missing) for one in status(run)}
    assert counts == {("clockwise", 2, 0), ("color-match", 1, 0), ("clockwise, again 1", 1, 0)}
    told = [game for game in games if game.player != "out"]
    (tmp_path / "t.csv").write_text(transcript_text(told))
    (tmp_path / "b.csv").write_text(boards_text(told))
    series = read_series([tmp_path / "t.csv", tmp_path / "b.csv"])
    assert any(a.bucket is None for one in series for e in one.episodes for a in e.attempts)
    measured = measure_series(series, precedence="ignore", with_chances=True)
    for metric in ("aai", "skill"):
        ours = gn.score(run, metric)
        for row in score_series(measured, metric).frame.iter_rows(named=True):
            task = row["rule"] + (", again 1" if row["series"] == 2 else "")
            found = ours.runs("people", task)[NUMBERS[row["player"]]]
            assert found == pytest.approx(row["score"], abs=1e-12), (metric, task, row["player"])
    (stopped,) = findings_of(run, n_resamples=9).stopped
    assert stopped == "1 of 2 of people on clockwise, the first after 1 of 3 episodes"


def test_where_only_movable_pieces_can_be_tried_chances_are_theirs(tmp_path):
    fixed = SeriesTerms(feedback="fixed")
    game = played("p1", "topmost-to-bucket-0", 1, terms=fixed, boards=2)
    run = write_study_run(tmp_path / "run", "pilot", [game], {"p1": 0})
    assert gn.verify(run).ok
    (tmp_path / "t.csv").write_text(transcript_text([game]))
    (tmp_path / "b.csv").write_text(boards_text([game]))
    series = read_series([tmp_path / "t.csv", tmp_path / "b.csv"])
    scores = [
        score_series(
            measure_series([replace(one, only_movable=known)], with_chances=True), "skill"
        ).frame["score"][0]
        for one in series
        for known in (True, False)
    ]
    assert gn.score(run, "skill").frame["score"][0] == pytest.approx(scores[0], abs=1e-12)
    assert scores[0] < scores[1], "chance alone does better where it cannot try what is stuck"


@pytest.mark.parametrize("play", ["cooperative", "adversarial"])
def test_two_at_a_board_are_scored_as_their_transcript_is(play, tmp_path):
    plan = f"{play[:4]}.pilot"
    two = {"seats": Seats(play), "plan": plan, "boards": 1}
    games = [
        played("p1", "clockwise", 1, partner="p2", **two),
        played("p3", "clockwise", 2, partner="out", **two),
        played("p4", "clockwise", 3, **two | {"seats": Seats(play, bot=1)}),
    ]
    numbers = {"p1": 0, "p2": 1, "p3": 2, "p4": 3}
    runs = {
        name: write_study_run(tmp_path / name, "pilot", of_kind, numbers)
        for name, of_kind in by_kind(games).items()
    }
    paired = play == "cooperative"
    learners = ("pairs", "people with a bot") if paired else ("adversaries", "people against a bot")
    (tmp_path / "t.csv").write_text(transcript_text(games))
    (tmp_path / "b.csv").write_text(boards_text(games))
    measured = measure_series(
        read_series([tmp_path / "t.csv", tmp_path / "b.csv"]),
        precedence="ignore", with_chances=True,
    )  # fmt: skip
    # The reference's name of an adversary whose table of players is not there; "out" is left out.
    expected = {"p1": 0, "p3": 2, "p4": 3} if paired else {"p1": 0, "p1:1": 1, "p3": 2, "p4": 3}
    if paired:
        del expected["p3"]  # a pair is left out as a whole
    assert list(runs) == [f"run-{play}", f"run-{play}-bot"]
    for run in runs.values():
        assert gn.verify(run).ok
        assert sum(one.missing for one in status(run)) == 0
        assert findings_of(run, n_resamples=9)
    for metric in ("m_star", "aai", "skill", "start_skill"):
        tables = {player: run for run, player in zip(runs.values(), learners, strict=True)}
        found = {
            row["run"]: row["score"]
            for player, run in tables.items()
            for row in gn.score(run, metric).to_frame().iter_rows(named=True)
            if row["algorithm"] == player and not np.isnan(row["score"])
        }
        rows = score_series(measured, metric).to_frame().iter_rows(named=True)
        theirs = {expected[r["player"]]: r["score"] for r in rows if r["player"] in expected}
        assert found == pytest.approx(theirs, abs=1e-12), metric
    errors = gn.score(runs[f"run-{play}"], "tce")
    by_journal = errors.runs(learners[0], "clockwise")
    for run in runs.values():
        (run.path / "journal.sqlite").unlink()
        repair(run)
    again = gn.score(runs[f"run-{play}"], "tce").runs(learners[0], "clockwise")
    np.testing.assert_array_equal(by_journal, again)


def test_what_was_changed_is_refused_and_what_was_lost_is_rebuilt(games, tmp_path):
    run = write_study_run(tmp_path / "run", "pilot", games, NUMBERS)
    with pytest.raises(ConfigError, match="was played elsewhere"):
        gn.run(run.config, run.path)
    (run.path / "journal.sqlite").unlink()
    assert {damage.remedy for damage in repair(run)} == {"rebuilt from the shards", "recorded"}
    assert gn.verify(run).ok
    config = run.path / "config.json"
    text = config.read_text()
    board = text.index('"trials": {')
    place = text.index("A", board)
    config.write_text(f"{text[:place]}B{text[place + 1 :]}")
    with pytest.raises(RunFolderError, match="not the experiment that the run began with"):
        gn.verify(run)


def test_an_export_again_takes_the_place_of_its_own_run_alone(games, tmp_path):
    first = write_study_run(tmp_path / "run", "pilot", games[:1], NUMBERS)
    again = write_study_run(tmp_path / "run", "pilot", games, NUMBERS)
    assert (len(first.config.rules), len(again.config.rules)) == (1, 3)
    kept = {trial.key for trial in again.trials()}
    assert set(first.planned) < kept, "a person's trial keeps its name"
    with pytest.raises(RunFolderError, match="an older run of 'other' to be replaced"):
        write_study_run(tmp_path / "run", "other", games, NUMBERS)
    assert write_study_run(tmp_path / "none", "pilot", games[4:5], NUMBERS) is None


def test_boards_of_several_palettes_stand_in_one_run(games, tmp_path, monkeypatch):
    few = gn.BoardSpec(4, 2, 2, ("HEART", "STAR"), ("PINK", "RED"))
    other = played("p2", "color-match", 8, spec=few)
    run = write_study_run(tmp_path / "run", "pilot", [games[0], other], NUMBERS)
    assert gn.verify(run).ok
    assert run.config.board.pieces == (4, 9)
    assert {"HEART", "SQUARE"} <= set(run.config.board.shape_palette)
    # Of more than 255 kinds of pieces a run is of those that fit.
    many = [tuple(f"{letter}{n}" for n in range(80)) for letter in "ab"]
    kinds = (
        gn.BoardSpec(2, 0, 0, many[0], ("RED",)),
        gn.BoardSpec(2, 0, 0, ("STAR",), many[1]),
        *(gn.BoardSpec(2, images={f"{c}{n}.png": {} for n in range(200)}) for c in "ab"),
    )
    wide = [played("p1", "clockwise", 7, spec=kind, boards=1) for kind in kinds]
    runs = by_kind([*wide, wide[0]])
    assert {name: [wide.index(game) for game in runs[name]] for name in runs} == {
        "run": [0, 0], "run-2": [1], "run-pictures": [2], "run-pictures-2": [3],
    }  # fmt: skip
    for name, of_kind in runs.items():
        assert gn.verify(write_study_run(tmp_path / "wide" / name, "pilot", of_kind, NUMBERS)).ok
    crowd = Board((Piece(0, 1, "STAR", "RED"), Piece(1, 1, "STAR", "RED")))
    monkeypatch.setattr(other.session, "board", lambda episode: crowd)
    with pytest.warns(DegenerateScoresWarning, match="p2 on color-match: left out of the run"):
        run = write_study_run(tmp_path / "run", "pilot", [games[0], other], NUMBERS)
    assert [rule.name for rule in run.config.rules] == ["clockwise"]
