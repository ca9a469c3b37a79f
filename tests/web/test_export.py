"""The whole board as files: safe for spreadsheets, for browsers, and for secrets."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon._io.csv_cells import csv_text, safe_cell
from gnomon.database.schema import Account, Entry, Season, Submission
from gnomon.errors import LeaderboardError
from gnomon.leaderboard.seasons.entry_registration import withdraw_entry
from gnomon.leaderboard.submissions.submission import withdraw
from gnomon.web.export import export_board
from small_season import fill, make_season

TABLES = ("seasons", "rules", "entries", "attempts", "submissions", "trials", "audit_log")
SCRIPT = "<script>alert('x')</script>"
ATTRIBUTE = '"onmouseover="alert(1)" x="'


@pytest.fixture
def nasty(database, settings):
    """A board on which every text that a stranger can give is an attack."""
    fill(database, settings)
    with database.writing() as session:
        entries = session.query(Entry).order_by(Entry.id).all()
        entries[0].name, entries[0].description = SCRIPT, f"=HYPERLINK(1){SCRIPT}{ATTRIBUTE}"
        entries[0].link = "https://example.org/a"
        entries[1].name = ATTRIBUTE
        entries[2].name = "=cmd|' /C calc'!A0"
        session.query(Account).one().name = f"+1{SCRIPT}"
        session.query(Season).one().title = f"@SUM(1){SCRIPT}"
        session.query(Season).one().description = SCRIPT + "{{ 7 * 7 }}"
        submission = session.query(Submission).order_by(Submission.id).first()
        assert submission is not None
        withdraw(session, submission, f"-1{SCRIPT}", by=1)
        withdraw_entry(session, entries[1], f"=1{SCRIPT}", by=1)
        entries[2].description = "\t=1"


def test_every_table_as_json_and_csv(database, settings, nasty, tmp_path):
    out = tmp_path / "out"
    paths = export_board(settings, database, out, logs=True)
    assert all(path.exists() for path in paths)
    for name in TABLES:
        rows = json.loads((out / "data" / f"{name}.json").read_text())
        lines = list(csv.DictReader(io.StringIO((out / "data" / f"{name}.csv").read_text())))
        assert len(rows) == len(lines) > 0, name
        assert list(rows[0]) == list(lines[0])
    assert len(list((out / "logs").iterdir())) == 3
    trials = json.loads((out / "data" / "trials.json").read_text())
    assert len(trials) == 12
    assert {type(trial["tce"]) for trial in trials} == {float}


def test_no_cell_is_a_formula(database, settings, nasty, tmp_path):
    export_board(settings, database, tmp_path / "out")
    texts = ""
    for path in (tmp_path / "out" / "data").glob("*.csv"):
        for row in csv.reader(io.StringIO(path.read_text())):
            for cell in row:
                texts += cell
                assert not cell.startswith(("=", "+", "@", "\t", "\r")), (path.name, cell)
                assert not cell.startswith("-") or float(cell) < 0
    assert "'=cmd|" in texts
    assert "'@SUM(1)" in texts


@given(st.one_of(st.text(), st.integers(), st.floats(allow_nan=False), st.none()))
def test_numbers_stay_numbers_and_text_stays_text(value):
    cell = safe_cell(value)
    if isinstance(value, str):
        assert cell in (value, "'" + value)
        assert not cell.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r"))
    elif value is not None:
        assert cell == value
    [_, line] = csv.reader(io.StringIO(csv_text([{"a": value, "b": 1}], ["a", "b"]), newline=""))
    assert line == [str(cell), "1"]


def test_nothing_that_a_stranger_wrote_runs_in_a_page(database, settings, nasty, tmp_path):
    out = tmp_path / "out"
    export_board(settings, database, out)
    pages = list(out.rglob("*.html"))
    assert pages
    text = "".join(page.read_text() for page in pages)
    assert "&lt;script&gt;" in text
    assert "<script>alert" not in text
    assert 'onmouseover="alert' not in text
    assert "{{ 7 * 7 }}" in text
    assert " on" not in "".join(re.findall(r"<[^>]*\son\w+=", text))
    assert not re.search(r"<script(?![^>]*\bsrc=)[^>]*>[^<]*\S", text)
    assert "javascript:" not in text
    for link in re.findall(r"<a\b[^>]*href=\"https?://[^>]*>", text):
        assert "nofollow" in link, link
        assert "noopener" in link, link


def test_the_pages_lead_to_each_other_and_to_nothing_else(database, settings, nasty, tmp_path):
    out = tmp_path / "out"
    export_board(settings, database, out)
    pages = list(out.rglob("*.html"))
    assert pages
    assert (out / "index.html").exists()
    for page in pages:
        for _, link in re.findall(r'\b(href|src)="([^"]*)"', page.read_text()):
            if not link.startswith(("http://", "https://", "#", "data:")):
                target = (page.parent / link.partition("#")[0]).resolve()
                assert target.exists(), (page, link)
                assert target.is_relative_to(out.resolve())
        assert "<form" not in page.read_text()
        assert "A copy of a leaderboard, made on 20" in page.read_text()
    assert list(out.glob("seasons/*/scores.csv"))


def test_no_secret_is_exported(database, settings, nasty, tmp_path):
    make_season(database, "secret", "hidden", salt="the salt of it")
    export_board(settings, database, tmp_path / "out", logs=True)
    for path in (tmp_path / "out").rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert b"the salt of it" not in data, path
            assert b"digest" not in data, path
    rules = json.loads((tmp_path / "out" / "data" / "rules.json").read_text())
    hidden = [rule for rule in rules if rule["visibility"] == "hidden"]
    assert [(rule["name"], rule["text"]) for rule in hidden] == [("s1-h01", None)]


def test_a_folder_with_something_in_it_is_refused(database, settings, tmp_path):
    (tmp_path / "x").write_text("")
    with pytest.raises(LeaderboardError, match="expected a new or empty folder"):
        export_board(settings, database, tmp_path)
