"""Series of people against what the reference system's analysis made of the same files."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest

from gnomon.errors import ScoreDataError
from gnomon.experiments import (
    MeasuredSeries,
    PlayedSeries,
    aai_curves,
    fit_learning_curve,
    measure_series,
    read_series,
    score_series,
    series_curves,
)
from gnomon.experiments.scoring.learning_curve import _loss
from gnomon.experiments.series.attempt_chances import AttemptChances, attempt_chances
from gnomon.experiments.series.transcript_files import read_attempts, read_initial_boards
from gnomon.game.formats.trial_lists import read_trial_list
from gnomon.rules import parse
from recorded_people import recorded, write_player

MODES = {"Naive": "naive", "Every": "every", "EveryCond": "every-cond", "Ignore": "ignore"}


@pytest.fixture(scope="module")
def players():
    return recorded("players")


def series_of(folder, record, *, detailed=False):
    write_player(folder, record, detailed=detailed)
    return read_series([folder], trial_lists=folder / "lists", as_reference=True)


def measured_by(folder, series, options, **more):
    return measure_series(
        series,
        rules=folder / "rules",
        target_streak=options.get("targetStreak"),
        target_r=options.get("targetR"),
        precedence=MODES[options["precMode"]],
        rule=options.get("target"),
        as_reference=True,
        **more,
    )


def scored(measured, metric, **options):
    return score_series(measured, metric, as_reference=True, **options).to_records()


def as_the_reference_writes(row, dagger, options):
    limit = float(options.get("defaultMStar", 300))
    learned, m_dagger = row["learned"], dagger["score"]
    return {
        "ruleSetName": row["rule"],
        "precedingRules": row["preceding"] or "",
        "seriesNo": row["series"],
        "playerId": row["algorithm"],
        "learned": learned,
        "total_moves": row["attempts"],
        "total_errors": row["errors"],
        "mStar": row["score"] if learned else limit,
        "mDagger": math.nan
        if m_dagger is None
        else m_dagger
        if learned
        else m_dagger + limit - 300,
    }


@pytest.mark.parametrize("detailed", [False, pytest.param(True, marks=pytest.mark.full)])
def test_series_scores_agree_in_every_option_set(players, tmp_path, detailed):
    """m*, m-dagger, totals and preceding rules of all players whom the reference does not give up.

    Whose lines are written twice across an episode's border counts twice there.
    """
    n = 0
    for record in players:
        if "error" in record or (detailed and "note" in record):
            continue
        if detailed and record["experimentPlan"].startswith("adve."):
            continue  # only the table of players names the partner
        series = series_of(folder := tmp_path / record["playerId"], record, detailed=detailed)
        for name, expected in record["expected"].items():
            options, where = expected["options"], (record["playerId"], name)
            if not expected["series"]:
                with pytest.raises(ScoreDataError, match=r"expected a series on .* found none"):
                    measured_by(folder, series, options)
                continue
            measured = measured_by(folder, series, options)
            stars, daggers = scored(measured, "m_star"), scored(measured, "m_dagger")
            assert len(stars) == len(expected["series"]), where
            for row, dagger, theirs in zip(stars, daggers, expected["series"], strict=True):
                ours = as_the_reference_writes(row, dagger, options)
                theirs = {key: theirs[key] for key in ours}
                for key in ("mStar", "mDagger"):
                    assert ours.pop(key) == pytest.approx(
                        float(theirs.pop(key)), abs=1e-12, nan_ok=True
                    ), (where, key)
                assert ours == theirs, where
                n += 1
    assert n > 600


@pytest.mark.full
def test_aai_measures_agree_with_the_recorded_chances(players, tmp_path):
    """AAI of our replay equals AAI of the recorded p0 and mu of each attempt."""
    for record in players:
        if "error" in record or "note" in record:
            continue
        series = series_of(folder := tmp_path / record["playerId"], record)
        for name in ("ignore-s10", "ignore-s10-mcp1"):
            expected = record["expected"][name]
            options = expected["options"]
            measured = measured_by(folder, series, options, with_chances=True)
            for metric in ("aai", "aaig"):
                found = scored(measured, metric, p0=options.get("p0", "random"))
                for row, theirs in zip(found, expected["series"], strict=True):
                    accepted, p0, mu = np.array(theirs["moveInfo"], dtype=float).T
                    curves = aai_curves(accepted == 1, p0, mu, as_reference=True)
                    assert row["score"] == pytest.approx(curves[metric][-1], rel=1e-12)


def test_lines_written_twice_count_once_unless_as_in_the_reference(players, tmp_path):
    [record] = [record for record in players if "note" in record]
    write_player(tmp_path, record)
    lines = set(record["transcripts"].splitlines()[1:])
    for as_reference, attempts, m_star in ((False, 24, 14), (True, 27, 17)):
        series = read_series([tmp_path], trial_lists=tmp_path / "lists", as_reference=as_reference)
        one = measure_series(series, as_reference=as_reference)[0]
        assert (one.accepted.size, one.m_star) == (attempts, m_star)
    read = read_series([tmp_path], trial_lists=tmp_path / "lists")
    assert sum(len(e.attempts) for one in read for e in one.episodes) == len(lines)


def test_players_whom_the_reference_gives_up_are_read(players, tmp_path):
    given_up = [r for r in players if "error" in r or "note" in r]
    assert len(given_up) > 3
    for record in given_up:
        folder = write_player(tmp_path / record["playerId"], record)
        series = read_series([folder], trial_lists=folder / "lists")
        measured = measure_series(
            series, rules=folder / "rules", precedence="ignore", with_chances=True
        )
        table = score_series(measured, "aai")
        assert np.isfinite(table.frame["score"].to_numpy()).all(), record["playerId"]


def test_chances_agree_at_every_attempt(players, tmp_path):
    """p0 of 39 players' attempts, accepted picks included, of both players who know nothing."""
    expected = defaultdict(dict)
    for record in recorded("p0"):
        rows = {(episode, number): p0 for episode, number, p0 in record["rows"]}
        expected[record["playerId"]].setdefault(record["p0_model"], {}).update(rows)
    n = 0
    for record in players:
        folder = write_player(tmp_path / record["playerId"], record)
        parameters = read_trial_list(next((folder / "lists").rglob("*.csv")))
        number_of = {e["episodeId"]: e["seriesNo"] for e in record["episodes"]}
        boards = read_initial_boards(sorted((folder / "boards").iterdir()))
        for episode, attempts in read_attempts(sorted((folder / "transcripts").iterdir())).items():
            row = parameters[number_of[episode]]
            fixed = row.others["feedback_switches"] == "fixed"
            rule = parse(record["rules"][row.rule_id])
            chances = attempt_chances(rule, boards[episode], attempts, only_movable=fixed)
            for model, theirs in expected[record["playerId"]].items():
                for attempt, ours in zip(attempts, chances, strict=True):
                    key = episode, attempt.number
                    if key in theirs:
                        assert ours.of(model)[0] == pytest.approx(theirs[key], abs=1e-12), key
                        n += 1
    assert n > 4000


@pytest.mark.parametrize("every", [36, pytest.param(4, marks=pytest.mark.full)])
def test_fitted_curves_are_no_less_likely(every):
    """The recorded curve has the recorded likelihood, to the digit, and ours is no less likely."""
    for number, record in enumerate(recorded("fits")):
        y, p0 = np.array(record["y"], dtype=float), np.array(record["p0"])
        parameters = np.array([record[name] for name in ("B", "C", "t_I", "k")])
        used = p0 < 1
        loss, _ = _loss(parameters, np.arange(y.size)[used], y[used], p0[used])
        assert -loss / record["n"] == pytest.approx(record["L_over_n"], rel=1e-9)
        if number % every:
            continue  # a fit takes half a second
        found = fit_learning_curve(y, p0, as_reference=True)
        assert found.log_likelihood > -loss - 1e-6, record["playerId"]
        bounded = fit_learning_curve(y, p0)
        assert 0 <= min(bounded.start, bounded.end) <= max(bounded.start, bounded.end) <= 1


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.full)])
def test_curves_and_their_medians_agree(every):
    """The AAI family over attempts and removals, prolonged or not; the records have ten digits."""
    inputs = {
        (r["p0_model"], r["key"], r["playerId"], r["seriesNo"]): as_measured(r)
        for r in recorded("curves_input")
    }
    n = 0
    for record in recorded("curves")[::every]:
        keys = [(x["playerId"], x["seriesNo"]) for x in record["curves"]]
        measured = [inputs[(record["p0_model"], record["key"], *key)] for key in keys]
        metric = "errors" if record["mode"] == "W" else record["mode"].lower()
        axis = "attempts" if record["arg"] == "M" else "removals"
        for prolonged, theirs in ((True, "median_extra"), (False, "median_real")):
            found = series_curves(
                measured, metric, axis=axis, prolonged=prolonged, as_reference=True
            )
            ours = np.array([(one.n, one.value, one.after) for one in found])
            np.testing.assert_allclose(ours, record[theirs], rtol=2e-9, atol=1e-9)
            if prolonged:
                for one, expected in zip(found.curves, record["curves"], strict=True):
                    y = np.array(expected["y"], dtype=float)
                    np.testing.assert_allclose(one.values, y, rtol=2e-9, atol=5.001e-9)
                    assert one.n_measured == expected["start_extra"] + 1
                    n += 1
    assert n > 1400 / every


def as_measured(record):
    """Return a recorded series with its chances."""
    good, p0, mu = np.array(record["moveInfo"], dtype=float).T
    chances = [(p, m) for p, m in zip(p0.tolist(), mu.tolist(), strict=True)]
    series = PlayedSeries(record["playerId"], record["key"], record["seriesNo"], ())
    found = tuple(AttemptChances(one, one, 1.0) for one in chances)
    return MeasuredSeries(series, good == 1, math.nan, record["learned"], found)
