"""Files of seasons: archives, citations, and scores from which every number is made again."""

from __future__ import annotations

import hashlib
import io
import shutil
import subprocess
import warnings
import zipfile
from dataclasses import replace

import pytest

from app_client import AppClient
from gnomon.errors import DegenerateScoresWarning
from gnomon.ranking import rank
from gnomon.scores import read_scores
from gnomon.stats import estimate
from gnomon_board import create_app
from gnomon_board.database import Database
from gnomon_board.schema import Season
from populated_board import copied
from small_season import make_season

SITE = "https://board.example.org"


@pytest.fixture(scope="module")
def public_settings(lively_folder, tmp_path_factory):
    """Settings of a copy of the lively board that the world sees."""
    settings = copied(lively_folder, tmp_path_factory.mktemp("public") / "own")
    return replace(settings, public_url=SITE)


@pytest.fixture(scope="module")
def public(public_settings):
    """A client of that board."""
    database = Database(public_settings.database)
    with AppClient(create_app(public_settings, database)) as client:
        yield client
    database.close()


def archive_of(client, season="spring-2026"):
    answer = client.get(f"/seasons/{season}/season.zip")
    assert answer.headers["content-type"] == "application/zip"
    return answer.content


def test_an_archive_is_whole_and_its_checksums_hold(public, tmp_path):
    answer = public.get("/seasons/spring-2026/season.zip")
    data = answer.content
    assert answer.headers["etag"] == f'"{hashlib.sha256(data).hexdigest()}"'
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        packed.extractall(tmp_path)
    (folder,) = tmp_path.iterdir()
    for line in (folder / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    if shutil.which("sha256sum"):
        command = ["sha256sum", "--check", "--quiet", "SHA256SUMS"]
        subprocess.run(command, cwd=folder, check=True, timeout=30)
    assert (folder / "scores.csv").read_text() == public.get("/seasons/spring-2026/scores.csv").text


def test_the_same_state_gives_the_same_archive_and_another_one_another(
    public, public_settings, lively_folder, tmp_path
):
    first = archive_of(public)
    other = replace(copied(lively_folder, tmp_path / "other"), public_url=SITE)
    database = Database(other.database)
    with AppClient(create_app(other, database)) as client:
        assert archive_of(client) == first
        with database.writing() as session:
            session.get_one(Season, 1).touch()
        assert archive_of(client) != first
    database.close()


def test_no_archive_tells_a_hidden_rule(public):
    with zipfile.ZipFile(io.BytesIO(archive_of(public, "autumn-2026"))) as packed:
        text = "".join(packed.read(name).decode() for name in packed.namelist())
    assert "s-h01" in text
    assert "quadrant-clockwise" not in text
    assert "never shown" not in text


def test_a_season_is_cited(public):
    with zipfile.ZipFile(io.BytesIO(archive_of(public))) as packed:
        (name,) = [each for each in packed.namelist() if each.endswith("citation.bib")]
        text = packed.read(name).decode()
    assert text.startswith("@misc{gnomon-spring-2026-v")
    assert rf"\url{{{SITE}/seasons/spring-2026}}" in text
    page = public.get("/seasons/spring-2026").text
    assert "@misc{gnomon-spring-2026-v" in page
    for name in ("season.zip", "scores.csv"):
        assert f'href="/seasons/spring-2026/{name}"' in page


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
            {"value": one.value, "low": max(one.low, 0.0), "high": one.high}
        )
    for line in shown["ranked"]:
        # Accounts count once, and the correction for several attempts only widens.
        assert line["rank_low"] <= ranks[line["contender"]["name"]].rank_low


def test_a_season_without_scores_has_a_file_without_rows(client, database):
    make_season(database, "young")
    text = client.get("/seasons/young/scores.csv").text
    assert text.startswith('"algorithm","task","run","score"')
    assert len(text.splitlines()) == 1
    assert client.get("/seasons/none/scores.csv").status_code == 404


def test_another_file_is_not_found(public):
    assert public.get("/seasons/spring-2026/secrets.txt").status_code == 404
    assert public.get("/seasons/nothing/scores.csv").status_code == 404
