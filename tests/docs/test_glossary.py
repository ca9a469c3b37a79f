"""The glossary: each word once, in order, used where it says; and the files have the names told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import gohr
from gnomon_board import Settings

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "glossary.md").read_text("utf-8")
WORDS, FILES = TEXT.split("## Files of a run folder")


def tables(text: str) -> list[list[list[str]]]:
    """Return the tables of a text: their rows without the head, each as its cells."""
    found = re.findall(r"(?:^\|.*\n?)+", text, flags=re.MULTILINE)
    return [
        [[cell.strip() for cell in row.strip("| ").split(" | ")] for row in table.splitlines()[2:]]
        for table in found
    ]


ROWS = [row for table in tables(WORDS) for row in table]


def forms(cell: str) -> list[str]:
    """Return what a word may look like: ``mean rank, `mean-rank` `` is written either way."""
    return [form.strip("` ").lower() for form in cell.split(", ")]


def test_every_row_has_a_word_a_meaning_and_a_page():
    assert [row for row in ROWS if len(row) != 3 or not all(row)] == []


def test_words_stand_once_and_in_order():
    names = [forms(row[0])[0] for row in ROWS]
    assert len(names) == len(set(names))
    for table in tables(WORDS):
        inside = [forms(row[0])[0] for row in table]
        assert inside == sorted(inside)


def test_the_page_that_a_word_leads_to_uses_it():
    unused = []
    for word, _, link in ROWS:
        page = re.search(r"\((?P<path>[^)#]+)", link)["path"]
        text = re.sub(r"[*\s]+", " ", (DOCS / page).read_text("utf-8")).lower()
        if not any(form in text for form in forms(word)):
            unused.append((word, page))
    assert unused == []


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    folder = tmp_path_factory.mktemp("glossary") / "run"
    config = gohr.ExperimentConfig("small", ["clockwise"], ["uniform"], trials=2, episodes=3)
    gohr.run(config, folder)
    return folder


def test_the_files_of_a_run_folder_are_told(played):
    told = re.findall(r"^\| ([^|]*) \|", FILES.split("## ")[0], flags=re.MULTILINE)
    patterns = [
        re.sub("KEY|NAME", r"[\\w-]+", name.replace(".", r"\."))
        for cell in told
        for name in re.findall(r"`([^`]+)`", cell)
    ]
    found = [p.relative_to(played).as_posix() for p in played.rglob("*") if p.is_file()]
    assert [name for name in found if not any(re.fullmatch(p, name) for p in patterns)] == []
    of_run = [pattern for pattern in patterns if not pattern.startswith("report/")]
    assert all(any(re.fullmatch(p, name) for name in found) for p in of_run)


def test_the_files_of_a_leaderboard_are_told():
    settings = Settings(Path("data"))
    told = FILES.split("## ")[1]
    for folder in (settings.evidence, settings.incoming):
        assert f"\n| `{folder.name}/" in told, folder.name
    assert f"\n| `{Path(settings.database).name}`" in told
