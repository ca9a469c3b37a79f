"""What others take along: citations, archives that are the same twice, feeds, badges, pictures."""

from __future__ import annotations

import csv
import hashlib
import io
import re
import shutil
import struct
import subprocess
import zipfile
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from app_client import AppClient
from gnomon.database.engine import Database
from gnomon.database.schema import Season
from gnomon.web.app import create_app
from populated_board import copied

SITE = "https://board.example.org"
ATOM = "{http://www.w3.org/2005/Atom}"


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
    answer = client.get(f"/seasons/{season}/archive.zip")
    assert answer.headers["content-type"] == "application/zip"
    return answer.content


def test_an_archive_is_whole_and_its_checksums_hold(public, tmp_path):
    data = archive_of(public)
    told = public.get("/seasons/spring-2026/cite.json").json()
    assert hashlib.sha256(data).hexdigest() == told["archive_sha256"]
    assert len(data) == told["archive_bytes"]
    checksum = public.get("/seasons/spring-2026/archive.zip.sha256").text
    assert checksum == f"{told['archive_sha256']}  {told['archive_name']}\n"
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
    shutil.rmtree(other.data / "archives", ignore_errors=True)
    database = Database(other.database)
    with AppClient(create_app(other, database)) as client:
        assert archive_of(client) == first
        with database.writing() as session:
            session.get_one(Season, 1).touch()
        assert archive_of(client) != first
        # The one before is not kept.
        assert len(list((other.data / "archives").glob("1-*.zip"))) == 1
    database.close()


def test_no_archive_tells_a_hidden_rule(public):
    with zipfile.ZipFile(io.BytesIO(archive_of(public, "autumn-2026"))) as packed:
        text = "".join(packed.read(name).decode() for name in packed.namelist())
    assert "s-h01" in text
    assert "quadrant-clockwise" not in text
    assert "never shown" not in text
    assert '"seed": null' in text


def test_a_season_is_cited(public):
    text = public.get("/seasons/spring-2026/citation.bib").text
    assert text.startswith("@misc{gnomon-spring-2026-v")
    assert rf"\url{{{SITE}/seasons/spring-2026}}" in text
    page = public.get("/seasons/spring-2026/cite").text
    assert "@misc{gnomon-spring-2026-v" in page
    assert 'href="/seasons/spring-2026/cite"' in public.get("/seasons/spring-2026").text


@pytest.mark.parametrize(("path", "n"), [("/feed.atom", 14), ("/seasons/spring-2026/feed.atom", 7)])
def test_feeds_are_atom(public, path, n):
    answer = public.get(path)
    assert answer.headers["content-type"].startswith("application/atom+xml")
    feed = ElementTree.fromstring(answer.content)
    assert feed.tag == f"{ATOM}feed"
    for name in ("id", "title", "updated"):
        assert feed.findtext(f"{ATOM}{name}")
    entries = feed.findall(f"{ATOM}entry")
    assert len(entries) == n
    assert len({entry.findtext(f"{ATOM}id") for entry in entries}) == n
    for entry in entries:
        assert entry.findtext(f"{ATOM}id").startswith(f"{SITE}/submissions/")
        assert re.fullmatch(r"[\d-]+T[\d:.]+\+00:00", entry.findtext(f"{ATOM}updated"))
        assert entry.find(f"{ATOM}author").findtext(f"{ATOM}name")
    again = public.get(path, headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304


def test_badges_tell_the_rank(public):
    answer = public.get("/entries/1/badge.svg")
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    svg = ElementTree.fromstring(answer.content)
    texts = [text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == "Spring 2026"
    assert re.fullmatch(r"rank \d+(–\d+)? of 6", texts[1])
    assert "no rank" in public.get("/entries/7/badge.svg").text
    assert "withdrawn" in public.get("/entries/10/badge.svg").text
    assert public.get("/entries/999/badge.svg").status_code == 404


@pytest.mark.parametrize(
    "path", ["/picture.png", "/seasons/spring-2026/picture.png", "/entries/3/picture.png"]
)
def test_pictures_of_links_are_pictures(public, path):
    answer = public.get(path)
    assert answer.headers["content-type"] == "image/png"
    assert answer.content[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", answer.content[16:24]) == (1200, 630)
    assert len(answer.content) < 100_000


def test_pages_say_what_a_link_to_them_looks_like(public, lively):
    for path, picture in {
        "/": "/picture.png",
        "/seasons/spring-2026": "/seasons/spring-2026/picture.png",
        "/entries/3": "/entries/3/picture.png",
        "/compare/2/3": "/seasons/spring-2026/picture.png",
        "/submissions/1": "/picture.png",
    }.items():
        page = public.get(path).text
        assert f'<meta property="og:image" content="{SITE}{picture}">' in page
        assert f'<link rel="canonical" href="{SITE}{path}">' in page
    page = public.get("/seasons/spring-2026?metric=mean").text
    assert f'<link rel="canonical" href="{SITE}/seasons/spring-2026?metric=mean">' in page
    # Without an address there is nothing that others could ask for.
    assert "og:image" not in lively.get("/").text
