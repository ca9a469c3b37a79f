"""The scores behind a board: from the file every rank and every number is made again."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from gnomon.errors import DegenerateScoresWarning
from gnomon.ranking import rank
from gnomon.scores import read_scores
from gnomon.stats import estimate


@pytest.mark.parametrize(("season", "number"), [("spring-2026", 1), ("autumn-2026", 2)])
def test_the_ranks_and_numbers_of_the_board_follow_from_its_file(lively, tmp_path, season, number):
    answer = lively.get(f"/seasons/{season}/scores.csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == f'attachment; filename="{season}-scores.csv"'
    path = tmp_path / "scores.csv"
    path.write_bytes(answer.content)
    table = read_scores(path, where={"ranked": "yes"})
    told = lively.get(f"/api/seasons/{season}/standings").json()["standings"]
    found = rank(table)
    for one, line in zip(found, told["ranked"], strict=True):
        assert one.name == line["contender"]["name"]
        # The correction for several attempts only widens.
        assert line["rank_low"] <= one.rank_low <= one.rank_high <= line["rank_high"]
        odds = np.log(one.value / (1.0 - one.value))
        assert np.clip(odds, -6.91, 6.91) == pytest.approx(line["rating"]["value"], abs=1e-2)
    with warnings.catch_warnings():
        # The board tells of the same, under "What the statistics warn of".
        warnings.simplefilter("ignore", DegenerateScoresWarning)
        estimates = estimate(table, ["iqm"], rng=np.random.default_rng(number))
    values = {
        line["contender"]["name"]: line["estimates"]["iqm"]["value"] for line in told["ranked"]
    }
    assert {e.algorithm: e.value for e in estimates} == pytest.approx(values)


def test_the_page_leads_to_the_file(lively):
    assert 'href="/seasons/spring-2026/scores.csv"' in lively.get("/seasons/spring-2026").text


def test_a_season_without_scores_has_a_file_without_rows(client, database):
    from small_season import make_season

    make_season(database, "young")
    text = client.get("/seasons/young/scores.csv").text
    assert text.startswith('"algorithm","task","run","score"')
    assert len(text.splitlines()) == 1
    assert client.get("/seasons/none/scores.csv").status_code == 404
