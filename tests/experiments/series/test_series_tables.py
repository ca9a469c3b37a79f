"""Tables of series in the reference's columns, and their curves: written, read back, refused."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon import rank
from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError
from gnomon.experiments import (
    MeasuredSeries,
    PlayedSeries,
    measure_series,
    read_series,
    score_series,
    series_curves,
    write_series_table,
)
from gnomon.experiments.series.series_curves import _band
from gnomon.scores import read_scores
from recorded_people import our_player, write_player


@pytest.fixture
def folder(tmp_path):
    for name in ("A01", "A02"):
        write_player(tmp_path / name, our_player(name))
    return tmp_path


def series_in(folder):
    players = [read_series([path], trial_lists=path / "lists") for path in sorted(folder.iterdir())]
    return [one for player in players for one in player]


def test_a_table_of_series_is_read_back_equal(folder, tmp_path):
    series = series_in(folder)
    for target in (3, 5):  # learned, and not
        measured = measure_series(
            series, target_streak=target, rules=folder / "A01" / "rules", with_chances=True
        )
        write_series_table(measured, path := tmp_path / "series.csv", with_moves=True)
        for metric in ("m_star", "m_dagger"):
            table = score_series(measured, metric)
            read = read_scores(path, metric=metric)
            kept = ["algorithm", "task", "run", "score", "learned", "attempts", "errors"]
            assert read.frame.select(*kept, "at_least").equals(
                table.frame.select(*kept, "at_least")
            )
            assert read.higher_is_better == table.higher_is_better
            assert [r.get("censored") for r in read.to_records()] == [
                r.get("censored") for r in table.to_records()
            ]
    cells = path.read_text().splitlines()[1].split(",")
    assert cells[-3:-1] == ["Infinity", "NaN"]
    assert cells[-1].startswith("0:0.25:4.0;1:0.25:4.0;")


def test_tables_of_others_are_read_by_the_names_of_their_columns(tmp_path):
    path = tmp_path / "theirs.csv"
    path.write_text("#mStar,ruleSetName,precedingRules,learned\n300.0,a,x;y,false\n4,a,,true\n")
    rows = read_scores(path).to_records()
    assert [(r["task"], r["score"], r["censored"]) for r in rows] == [
        ("x:y:a", None, True),
        ("a", 4.0, False),
    ]
    # Nobody is named, and nobody said to have learned: one population, and 300 was not reached.
    path.write_text("#ruleSetName,mStar\na,3\na,5\na,0\nb,2\nb,5\nb,300\n")
    with pytest.warns(DegenerateScoresWarning, match="how certain the ratings of a, b are"):
        ease = rank(read_scores(path), by="task", method="gohr-ev")
    assert {one.name: one.rating for one in ease} == pytest.approx({"a": 3.5 / 7.5, "b": 1.0})
    path.write_text("#playerId,rule,attempts,removed\np1,a,40,27\np1,b,27,27\n")
    assert [row["score"] for row in read_scores(path).to_records()] == [13.0, 0.0]
    for line, message in (
        ("p1", "row 2, column 'rule': expected a value, found none"),
        ("p1,a,,27", "row 2, column 'attempts': expected a value, found none"),
        ("p1,a,4,27", "row 2: expected 0 to 4 pieces removed, found 27"),
    ):
        path.write_text(f"#playerId,rule,attempts,removed\n{line}\n")
        with pytest.raises(ScoreDataError, match=message):
            read_scores(path)
    for header in ("#Rule set name,Learned,EV score", "#rule,n,avgAttempts,score", "#key,a,b"):
        path.write_text(f"{header}\n")
        with pytest.raises(
            ScoreDataError, match=r"found (a|averages).* of rules.*no scores of run"
        ):
            read_scores(path)
    path.write_text("#mStar,ruleSetName\nsoon,a\n")
    with pytest.raises(ScoreDataError, match=r"row 2, column 'mStar': expected a number, found 's"):
        read_scores(path)
    path.write_text("#mStar,ruleSetName\n")
    with pytest.raises(ScoreDataError, match="expected series in it, found none"):
        read_scores(path)


def test_people_are_runs_of_one_algorithm_if_asked(folder):
    table = score_series(measure_series(series_in(folder), target_streak=3), by="people")
    assert table.algorithms == ("people",)
    assert [row["player"] for row in table.to_records()] == ["A01", "A02"]
    assert table.runs("people", "hue").tolist() == [4, 4]


def made(good, *, learned):
    series = PlayedSeries("p", "r", 0, ())
    return MeasuredSeries(series, np.array(good, dtype=bool), 0.0, learned, None)


def test_curves_of_learners_are_prolonged_and_those_of_others_end():
    learner, other = made([0, 1, 1], learned=True), made([0, 0, 1, 0, 1, 1], learned=False)
    found = series_curves([learner, other], "errors", axis="attempts")
    assert [(p.step, p.n, p.value) for p in found][-1] == (6, 2, 2.0)
    real = series_curves([learner, other], "errors", axis="attempts", prolonged=False)
    assert [p.n for p in real] == [2, 2, 2, 2, 1, 1, 1]
    assert (real[3].value, real[3].after) == (1.5, 2.0)
    assert "thin from where one of them has stopped" in real.figure().caption
    theirs = series_curves([learner, other], "errors", as_reference=True)
    assert "ranked (n - 1)/2 ± 0.98 √n of n ≥ 5" in theirs.figure().caption
    with pytest.raises(UnknownNameError, match="did you mean 'aai'"):
        series_curves([learner], "aaik")
    with pytest.raises(ScoreDataError, match="whose chances are known for aaig, found none"):
        series_curves([learner], "aaig")


@pytest.mark.full
def test_bands_of_medians_cover():
    rng = np.random.default_rng(0)
    for n in (6, 9, 20):
        bands = [
            _band(np.sort(rng.exponential(size=n)), 0.95, as_reference=False) for _ in range(2000)
        ]
        covered = np.mean([low <= np.log(2) <= high for low, high in bands])
        assert covered > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 2000), n
