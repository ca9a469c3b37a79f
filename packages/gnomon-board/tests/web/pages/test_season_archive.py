"""Archives of seasons: whole, the same twice, and with a citation."""

from __future__ import annotations

import csv
import hashlib
import io
import shutil
import subprocess
import zipfile
from dataclasses import replace

import pytest

from app_client import AppClient
from gnomon_board import create_app
from gnomon_board.database import Database, Season
from populated_board import copied

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
    trials = list(csv.DictReader(io.StringIO((folder / "trials.csv").read_text())))
    assert len(trials) == 7 * 4 * 5
    assert {row["rule"] for row in trials} == {
        *("clockwise", "color-match", "top-and-bottom", "red-first")
    }


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
    assert '"seed": null' in text


def test_a_season_is_cited(public):
    with zipfile.ZipFile(io.BytesIO(archive_of(public))) as packed:
        (name,) = [each for each in packed.namelist() if each.endswith("citation.bib")]
        text = packed.read(name).decode()
    assert text.startswith("@misc{gnomon-spring-2026-v")
    assert rf"\url{{{SITE}/seasons/spring-2026}}" in text
    page = public.get("/seasons/spring-2026").text
    assert "@misc{gnomon-spring-2026-v" in page
    assert 'href="/seasons/spring-2026/season.zip"' in page
