"""The scores behind a board: from the file every rank and every number is made again."""

from __future__ import annotations

import warnings

import pytest

from gnomon.errors import DegenerateScoresWarning
from gnomon.ranking import rank
from gnomon.scores import read_scores
from gnomon.stats import estimate


@pytest.mark.parametrize("season", ["spring-2026", "autumn-2026"])
def test_the_numbers_of_the_board_follow_from_its_file(lively, tmp_path, season):
    answer = lively.get(f"/seasons/{season}/scores.csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == f'attachment; filename="{season}-scores.csv"'
    path = tmp_path / "scores.csv"
    path.write_bytes(answer.content)
    table = read_scores(path, where={"ranked": "yes"})
    shown = lively.get(f"/api/seasons/{season}/standings").json()["standings"]
    with warnings.catch_warnings():
        # The board shows the same, under "Warnings of the statistics".
        warnings.simplefilter("ignore", DegenerateScoresWarning)
        estimates = estimate(table, "iqm", variances="own")
        ranks = {one.name: one for one in rank(table)}
    errors = {line["contender"]["name"]: line["errors"] for line in shown["ranked"]}
    for one in estimates:
        assert errors[one.algorithm] == pytest.approx(
            {"value": one.value, "low": one.low, "high": one.high}
        )
    for line in shown["ranked"]:
        # Accounts count once, and the correction for several attempts only widens.
        assert line["rank_low"] <= ranks[line["contender"]["name"]].rank_low


def test_the_page_leads_to_the_file(lively):
    assert 'href="/seasons/spring-2026/scores.csv"' in lively.get("/seasons/spring-2026").text


def test_a_season_without_scores_has_a_file_without_rows(client, database):
    from small_season import make_season

    make_season(database, "young")
    text = client.get("/seasons/young/scores.csv").text
    assert text.startswith('"algorithm","task","run","score"')
    assert len(text.splitlines()) == 1
    assert client.get("/seasons/none/scores.csv").status_code == 404
