"""Series of people: a small game of ours, whose measures are known by hand, in every format."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError
from gnomon.experiments import (
    PlayedSeries,
    fit_learning_curve,
    measure_series,
    read_series,
    score_series,
    score_trial,
)
from gnomon.experiments.series.series_scores import attempts_of_series, needs_chances
from gnomon.rules import parse
from recorded_people import HEADERS, RULE, our_player, write_player

#: Of F S F F S S S S where chance is always 1/4, and 4 attempts a piece.
BY_HAND = {
    "m_star": 4, "m_dagger": 0, "aai": 0.5, "aaib": 4, "aaic": 2.5, "aaid": 4 / 3, "aaie": 1,
    "aaig": 1, "aaih": 1, "omega": 1, "omega_by_attempt": 1, "skill": 0.5,
}  # fmt: skip


def read(folder):
    return read_series([folder], trial_lists=folder / "lists")


def scored(folder, metric="m_star", *, p0="random", as_reference=False, **options):
    options = {"rules": folder / "rules", "target_streak": 3} | options
    options |= {"with_chances": needs_chances(metric), "as_reference": as_reference}
    measured = measure_series(read(folder), **options)
    return score_series(measured, metric, p0=p0, as_reference=as_reference).to_records()


@pytest.mark.parametrize("version", HEADERS)
def test_every_version_gives_the_measures_counted_by_hand(tmp_path, version):
    folder = write_player(tmp_path, our_player(version=version))
    for metric, expected in BY_HAND.items():
        [row] = scored(folder, metric)
        assert row["score"] == pytest.approx(expected), metric
        assert (row["algorithm"], row["task"], row["run"]) == ("A01", "hue", 0)
        assert (row["attempts"], row["errors"], row["learned"]) == (8, 3, True)


def test_what_people_tested_is_measured_as_of_programs(tmp_path):
    """The attempts of a player, made by a program on the same boards, test the same."""
    folder = write_player(tmp_path, our_player())
    [series] = read(folder)
    attempts = attempts_of_series(series)
    for metric in ("informative", "positive_tests"):
        [row] = scored(folder, metric)
        assert row["score"] == score_trial(attempts.log, metric, rule_set=parse(RULE))
        assert 0 < row["score"] <= 1
    informative, expected = attempts.hypothesis_tests()
    assert informative[0]
    assert np.isfinite(expected).all()


def test_a_player_who_repeats_no_failure_has_better_chances(tmp_path):
    folder = write_player(tmp_path, our_player())
    [random], [mcp1] = (scored(folder, "aai", p0=p0) for p0 in ("random", "mcp1"))
    # Known failures before each of the eight attempts are 0, 1, 0, 1, 2, 0, 0, 0.
    left = [12, 11, 8, 7, 6, 4, 8, 4]
    chances = [n / k for n, k in zip([3, 3, 2, 2, 2, 1, 2, 1], left, strict=True)]
    assert mcp1["score"] == pytest.approx(3 / sum(1 - p for p in chances))
    assert mcp1["score"] > random["score"]


def test_split_transcripts_name_fewer_columns_than_they_have(tmp_path):
    header = (
        "ruleSetName,playerId,experimentPlan,trialListId,seriesNo,orderInSeries,episodeId,moveNo,"
        "timestamp,y,x,by,bx,code"
    )
    lines = our_player()["transcripts"].splitlines()[1:]
    split = [f"hue,A01,ours,one,0,0,{line.partition(',')[2]}" for line in lines]
    (tmp_path / "split.csv").write_text("\n".join([header, *split]))
    [one] = measure_series(read_series([tmp_path / "split.csv"]), target_streak=3)
    assert (one.m_star, one.series.plan, one.accepted.size) == (4, "ours", 8)


def test_lines_written_twice_and_attempts_on_empty_cells_count_once_and_never(tmp_path):
    player = our_player()
    lines = player["transcripts"].splitlines()
    first, second = lines[1:8], lines[8:]
    empty = second[-1].replace(",1,20250304", ",2,20250304").removesuffix("0") + "3"
    messy = [lines[0], *first, *second, *first, *second, empty, ""]
    folder = write_player(tmp_path, player | {"transcripts": "\n".join(messy)})
    [row] = scored(folder, "aai")
    assert (row["attempts"], row["score"]) == (8, 0.5)


def test_mastery_by_streak_by_likelihood_and_not_at_all(tmp_path):
    folder = write_player(tmp_path, our_player())
    asked = [(4, None, 4), (None, 64, 4), (5, 16, 4), (5, None, None), (None, 1000, None)]
    for streak, ratio, m_star in asked:
        [row] = scored(folder, target_streak=streak, target_r=ratio)
        assert row["score"] == m_star, (streak, ratio)
        assert row.get("censored", False) == (m_star is None)
    [row] = scored(folder, target_streak=None)
    assert row["criterion"] == "10 in a row"
    assert row["censored"]
    [row] = scored(folder, target_streak=5, as_reference=True)
    assert (row["score"], row["learned"]) == (300, False)
    assert "censored" not in row


def two_series(tmp_path, **changes):
    """A player who meets the rule twice, one board each; masters it at the second, by two."""
    lists = "rule_id,max_boards,feedback_switches\nhue,1,free\nhue,1,free\n"
    [a, b] = [episode["episodeId"] for episode in our_player()["episodes"]]
    episodes = [{"episodeId": a, "seriesNo": 0}, {"episodeId": b, "seriesNo": 1}]
    return write_player(tmp_path, our_player(trial_list=lists, episodes=episodes, **changes))


def test_which_series_compare_depends_on_what_went_before(tmp_path):
    folder = two_series(tmp_path)
    tasks = {
        mode: [(row["task"], row["run"]) for row in scored(folder, precedence=mode)]
        for mode in ("naive", "every", "every-cond", "ignore")
    }
    assert tasks == {
        "naive": [("hue", 0)],
        "every": [("hue", 0), ("hue:hue", 0)],
        "every-cond": [("hue", 0), ("false.hue:hue", 0)],
        "ignore": [("hue", 0), ("hue", 1)],
    }
    daggers = scored(folder, "m_dagger", precedence="ignore", target_streak=2)
    assert [row["score"] for row in daggers] == [2, -2]
    # The reference takes the mean over the rows that it shows.
    naive = {"metric": "m_dagger", "precedence": "naive", "target_streak": 2}
    assert [scored(folder, as_reference=x, **naive)[0]["score"] for x in (False, True)] == [2, 0]


def test_the_attempts_of_adversaries_are_told_apart(tmp_path):
    player = our_player(experimentPlan="adve.ours", partnerPlayerId="A02")
    folder = write_player(tmp_path, player)
    attempts = {row["algorithm"]: row["attempts"] for row in scored(folder)}
    assert attempts == {"A01": 4, "A02": 4}
    both = {row["algorithm"]: row["attempts"] for row in scored(folder, as_reference=True)}
    assert both == {"A01": 8, "A02": 4}


def test_a_series_whose_chances_are_unknown_is_missing_and_said(tmp_path):
    folder = write_player(tmp_path, our_player(rules={"hue": RULE.replace("blue,*,2", "blue,*,3")}))
    said = pytest.warns(
        DegenerateScoresWarning, match=r"A01, series 0 \(hue\): not estimable, .*row"
    )
    unknown = r"whose chances are known for aai, found none; .* \(the first: A01, s"
    with said, pytest.raises(ScoreDataError, match=unknown):
        scored(folder, "aai")
    with said:
        [unknown] = measure_series(read(folder), rules=folder / "rules", with_chances=True)
    assert scored(folder)[0]["score"] == 4  # m* needs no rule
    write_player(tmp_path, our_player())
    [known] = measure_series(read(folder), rules=folder / "rules", with_chances=True)
    assert [row["score"] for row in score_series([known, unknown], "aai").to_records()] == [
        0.5,
        None,
    ]
    (folder / "boards" / "A01.boards.csv").unlink()
    with pytest.warns(DegenerateScoresWarning, match="the board of episode .* is not in the files"):
        assert scored(folder, target_r=64, target_streak=None)[0]["score"] is None


def test_boards_with_pictures_are_left_out(tmp_path):
    boards = our_player()["boards"].replace("STAR,RED,RED_STAR", "null,null,cats/1.svg")
    folder = write_player(tmp_path, our_player(boards=boards))
    assert [episode.board for episode in read(folder)[0].episodes] == [None, None]


def test_episodes_that_no_file_knows_are_left_out(tmp_path):
    folder = write_player(tmp_path, our_player(episodes=our_player()["episodes"][:1]))
    with pytest.warns(DegenerateScoresWarning, match="1 episodes are left out; the first: .*row 9"):
        [row] = scored(folder)
    assert row["attempts"] == 6


def test_what_is_refused(tmp_path):
    folder = write_player(tmp_path, our_player())
    with pytest.raises(UnknownNameError, match="did you mean 'm_star'"):
        scored(folder, "m_stars")
    with pytest.raises(ScoreDataError, match=r"rule hue: expected its text in a folder of rules"):
        scored(folder, "aai", rules=None)
    with pytest.raises(ScoreDataError, match="target R: expected a number above 1, found 1"):
        scored(folder, target_r=1)
    with pytest.raises(ScoreDataError, match="expected a series on shape with an attempt"):
        scored(folder, rule="shape", precedence="ignore")
    with pytest.raises(ScoreDataError, match="the table of episodes with --trial-lists"):
        read_series([folder])
    with pytest.raises(ScoreDataError, match="expected transcripts or a folder of them"):
        read_series([folder / "nothing"])
    later = [PlayedSeries("p", "hue", 1, read(folder)[0].episodes)]
    with pytest.raises(ScoreDataError, match="scored with another precedence mode"):
        measure_series(later)
    for wrong, message in {
        ",5,3,0,7,4": ("row 2, fields 'by', 'bx': expected one of 7 0", ",5,3,1,7,4"),
        "0,7,4": ("row 2, field 'code': expected 0 or 2, 3, 4, 7 or a negative one", "0,7,5"),
        "0,0,5,3": ("row 2, field 'y': expected a whole number from 1 to 6", "0,0,9,3"),
    }.items():
        text = our_player()["transcripts"].replace(wrong, message[1], 1)
        write_player(tmp_path, our_player(transcripts=text))
        with pytest.raises(ScoreDataError, match=message[0]):
            read(folder)


@pytest.mark.parametrize("as_reference", [False, True])
def test_the_fitted_learning_curve_is_that_of_attempts_and_chances(tmp_path, as_reference):
    folder = write_player(tmp_path, our_player())
    accepted, chance = [0, 1, 0, 0, 1, 1, 1, 1], [0.25] * 8
    curve = fit_learning_curve(accepted, chance, as_reference=as_reference)
    assert (curve.end > 1) is as_reference
    for metric in ("start_skill", "end_skill", "inflection"):
        [row] = scored(folder, metric, as_reference=as_reference)
        assert row["score"] == getattr(curve, metric.removesuffix("_skill")), metric
