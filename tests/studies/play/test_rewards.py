"""Points, factors and bonuses: the worked numbers, and what recorded people were given."""

from __future__ import annotations

import pytest

from gnomon.experiments import read_series
from gnomon.experiments.series.attempt_chances import attempt_chances
from gnomon.game.formats.trial_lists import read_trial_list
from gnomon.rules import parse
from gnomon.studies import SeriesTerms
from gnomon.studies.plan.series_plan import PointsPlan
from gnomon.studies.plan.trial_list_plans import incentive_of
from gnomon.studies.play.rewards import (
    PlayedBoard,
    RatedAttempt,
    budget_left,
    exact_points,
    is_lost,
    points_of,
    reward_of,
)
from recorded_people import recorded, write_player

POINTS = {"least": 2, "most": 10, "slope": 1.5}


def made(outcomes: str, ratio: float = 4.0) -> tuple[RatedAttempt, ...]:
    """Return attempts: S success, F failure, P an accepted pick, p a failed one."""
    return tuple(RatedAttempt(x in "SP", is_pick=x in "Pp", ratio=ratio) for x in outcomes)


def board(outcomes: str, end: str = "cleared", **more: object) -> PlayedBoard:
    return PlayedBoard(outcomes.count("S"), made(outcomes), end, **more)


def terms(**incentive: object) -> SeriesTerms:
    return SeriesTerms(points=POINTS, incentive=incentive or None)


def test_points_are_those_of_the_reference():
    for record in recorded("rewards"):
        plan = PointsPlan(least=record["min_points"], most=record["max_points"], slope=record["b"])
        for errors, raw, rounded in record["errors_raw_rounded"]:
            assert exact_points(plan, float(errors)) == pytest.approx(raw, abs=1e-9)
            assert points_of(plan, float(errors)) == rounded


def test_picks_cost_and_are_errors_and_break_no_streak():
    played = SeriesTerms(points=POINTS, pick_cost=0.5)
    reward = reward_of(played, [board("SPpSPS")])
    # One and a half spent beyond three moves.
    assert reward.board_points == (points_of(played.points, 1.5),)
    assert reward.streak == 2


def test_a_promise_is_kept_by_a_finished_board_and_lost_by_one_given_up():
    plan = terms(kind="doubling", x2=3, x4=6)
    going = reward_of(plan, [board("SSS", "")])
    assert (going.factor, going.promised, going.mastered) == (1, 2, False)
    assert reward_of(plan, [board("SSS")]).factor == 2
    assert reward_of(plan, [board("SSS", "stalemate")]).factor == 2
    lost = reward_of(plan, [board("SSS", "given up")])
    assert (lost.factor, lost.total) == (1, 0)
    # A promise outlives an error on the same board, and the factor outlives the next board.
    assert reward_of(plan, [board("SSSF"), board("F", "given up")]).factor == 2


def test_a_streak_goes_on_across_boards_and_ends_the_series():
    plan = terms(kind="doubling", x2=3, x4=6)
    reward = reward_of(plan, [board("FSSSS"), board("SS", "mastered")])
    assert (reward.factor, reward.mastered, reward.streak) == (4, True, 6)
    assert reward.total == 4 * (points_of(plan.points, 1) + points_of(plan.points, 0))


def test_one_move_may_reach_the_fourfold_ratio_without_the_double():
    plan = terms(kind="likelihood", x2=10, x4=50)
    assert [reward_of(plan, [board("S" * n, "")]).promised for n in (1, 2, 3)] == [1, 2, 4]
    leap = PlayedBoard(2, (RatedAttempt(accepted=True, ratio=64.0),), "mastered")
    assert reward_of(plan, [leap]).factor == 4


def test_mastery_without_a_factor_ends_the_series():
    plan = terms(kind="mastery", streak=3)
    reward = reward_of(plan, [board("FSSS", "mastered")])
    assert (reward.mastered, reward.factor) == (True, 1)
    by_ratio = terms(kind="mastery", ratio=60)
    assert [reward_of(by_ratio, [board("S" * n, "")]).mastered for n in (2, 3)] == [False, True]


def test_a_bonus_is_won_by_so_many_boards_within_their_budgets():
    plan = terms(kind="bonus", boards=2, points=15, threshold=1.3)
    four = board("SSFSS", is_bonus=True)
    assert budget_left(plan, four) == 0.0
    assert reward_of(plan, [board("SSSS"), four]).extra == 0
    won = reward_of(plan, [board("SSSS"), four, four])
    assert (won.extra, won.bonus_over) == (15, True)
    late = board("SSFFFSS", is_bonus=True)
    missed = reward_of(plan, [late])
    assert (missed.extra, missed.bonus_over, missed.board_points) == (0, True, (3,))


def test_a_bonus_board_is_lost_when_its_budget_is_below_one():
    plan = terms(kind="bonus", boards=1, points=15, threshold=1.3)
    assert not is_lost(plan, PlayedBoard(4, made("FSSS"), is_bonus=True))
    lost = PlayedBoard(4, made("FFSSS"), is_bonus=True)
    assert is_lost(plan, lost)
    assert not is_lost(plan, PlayedBoard(4, made("FFSSS")))
    reward = reward_of(plan, [PlayedBoard(4, made("FFSSS"), "lost", is_bonus=True)])
    assert (reward.total, reward.bonus_over) == (0, True)


def test_a_board_that_is_given_up_or_cut_off_earns_nothing():
    for end in ("", "given up", "cut off", "lost"):
        assert reward_of(terms(), [board("SS", end)]).total == 0
    assert reward_of(SeriesTerms(), [board("SS")]).total == 0


def test_recorded_people_have_the_factors_that_they_were_given(tmp_path):
    checked = 0
    for number, record in enumerate(recorded("players")[:60]):
        if record["partnerPlayerId"] or "error" in record or "note" in record:
            continue
        folder = write_player(tmp_path / str(number), record)
        (path,) = (folder / "lists").rglob("*.csv")
        rows = read_trial_list(path)
        given = {each["episodeId"]: each["xFactor"] for each in record["episodes"]}
        for series in read_series([folder], trial_lists=folder / "lists"):
            incentive = incentive_of(rows[series.number])
            if incentive is None or incentive["kind"] == "bonus":
                continue
            plan = SeriesTerms(incentive=incentive)
            rule = parse(record["rules"][series.rule])
            boards: list[PlayedBoard] = []
            for episode in series.episodes:
                chances = attempt_chances(
                    rule, episode.board, episode.attempts, only_movable=series.only_movable
                )
                attempts = tuple(
                    RatedAttempt(a.code == 0, is_pick=a.bucket is None, ratio=c.likelihood_ratio)
                    for a, c in zip(episode.attempts, chances, strict=True)
                )
                moved = sum(a.removed for a in episode.attempts)
                end = "cleared" if moved == len(episode.board) else ""
                boards.append(PlayedBoard(len(episode.board), attempts, end))
                reward = reward_of(plan, boards)
                if reward.mastered:
                    boards[-1] = PlayedBoard(len(episode.board), attempts, "mastered")
                elif not end:
                    continue  # nothing tells whether it was given up
                # The table says of each board what was reached on it; a series keeps the highest.
                names = [each.name for each in series.episodes[: len(boards)]]
                expected = max(1, *(given[name] for name in names))
                found = reward_of(plan, boards).factor
                assert found == expected, (record["playerId"], episode.name)
                checked += 1
    assert checked > 100
