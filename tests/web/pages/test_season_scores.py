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
    rng = np.random.default_rng(number)
    found = rank(table, n_resamples=told["n_resamples"], best_of="begun", rng=rng)
    assert [
        (record["name"], record["rank_low"], record["rank_high"], record["groups"])
        for record in found.as_records()
    ] == [
        (line["contender"]["name"], line["rank_low"], line["rank_high"], line["groups"])
        for line in told["ranked"]
    ]
    for record, line in zip(found.as_records(), told["ranked"], strict=True):
        assert record["rating"] == pytest.approx(line["rating"]["value"])
        assert record["low"] == pytest.approx(line["rating"]["low"])
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
