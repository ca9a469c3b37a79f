"""Published case studies computed again: what agrees, what is refused, and the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from gnomon.cli import app
from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.report import CASE_STUDIES, reproduce

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"
here = pytest.mark.skipif(not DATA.is_dir(), reason="the published scores are not here")


@here
def test_the_notebooks_numbers_come_out(monkeypatch, tmp_path):
    monkeypatch.setenv("GNOMON_DATA", str(DATA))
    found = reproduce("rliable", tmp_path / "page")
    assert (found.n_equal, found.n_unequal) == (14, 2)
    assert {one.item for one in found if not one.equal} == {
        "SPR, median of 49 runs",
        "SPR, mean of 49 runs",
    }
    page = (tmp_path / "page" / "report.html").read_text(encoding="utf-8")
    assert [note.partition(";")[0] for note in found.warnings] == [
        "mean of SPR: 81% of the variance is that of one task, UpNDown",
        "mean of DrQ: 59% of the variance is that of one task, Krull",
    ]
    assert "14 equal, 2 not equal" in page
    assert len(list((tmp_path / "page" / "figures").glob("*.svg"))) == 4


@here
def test_the_essays_claims_hold_by_both_formulas(monkeypatch):
    monkeypatch.setenv("GNOMON_DATA", str(DATA))
    found = reproduce("recht")
    assert [one.equal for one in found] == [True] * 4 + [False] * 4
    assert {one.published for one in found[4:]} == {"0.700", "0.683", "0.917", "0.933"}
    assert {one.ours for one in found[4:]} == {"0.617", "0.583", "0.650"}


@pytest.mark.full
def test_claims_of_the_game_are_tested_in_two_readings(tmp_path):
    told = []
    found = reproduce(
        "gohr", tmp_path, trials=2, progress=lambda done, total: told.append((done, total))
    )
    assert [one.table for one in found] == ["section 5, reading: default"] * 3 + [
        "section 5, reading: goes on"
    ] * 3
    assert told[-1] == (8, 8)
    told.clear()
    assert reproduce("gohr", tmp_path, trials=2).records == found.records  # the runs are kept
    assert (tmp_path / "report.html").is_file()


def test_a_missing_file_is_named_with_its_source(monkeypatch, tmp_path):
    monkeypatch.setenv("GNOMON_DATA", str(tmp_path))
    with pytest.raises(ScoreDataError, match=r"machado2018_mean_std.csv: .*arXiv 1709.06009"):
        reproduce("recht")
    monkeypatch.delenv("GNOMON_DATA")
    with pytest.raises(ScoreDataError, match="GNOMON_DATA is not set; it is published at github"):
        reproduce("rliable")


def test_an_unknown_study_is_refused_with_those_that_there_are():
    with pytest.raises(UnknownNameError, match="known: atari5, gohr, recht, rliable"):
        reproduce("dolan")


def test_the_verb_prints_what_the_function_returns(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("GNOMON_DATA", str(tmp_path))
    for name in set(CASE_STUDIES) - {"gohr", "atari5"}:
        with pytest.raises(ScoreDataError):
            app(["reproduce", name], standalone_mode=False)
