"""The glossary: each word once, in order, and used on the page that it links to."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
TABLES = re.findall(r"(?:^\|.*\n)+", (DOCS / "glossary.md").read_text("utf-8"), re.MULTILINE)
ROWS = [
    [[cell.strip() for cell in row.strip("| ").split(" | ")] for row in table.splitlines()[2:]]
    for table in TABLES
]


def forms(cell: str) -> list[str]:
    """Return what a word may look like: ``mean rank, `mean-rank` `` is written either way."""
    return [form.strip("` ").lower() for form in cell.split(", ")]


def test_words_are_defined_once_and_in_order():
    for table in ROWS:
        words = [forms(word)[0] for word, _, _ in table]
        assert words == sorted(set(words))


def test_the_page_that_a_word_leads_to_uses_it():
    unused = []
    for word, _, link in (row for table in ROWS for row in table):
        page = re.search(r"\((?P<path>[^)#]+)", link)["path"]
        text = re.sub(r"[*\s]+", " ", (DOCS / page).read_text("utf-8")).lower()
        if not any(form in text for form in forms(word)):
            unused.append((word, page))
    assert unused == []
