"""Every test that docs/board/security.md names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "board" / "security.md").read_text("utf-8")


def named() -> list[tuple[str, str]]:
    """Return the file and the test of each name; ``::test`` is of the file before it."""
    found, file = [], ""
    for line in PAGE.splitlines():
        for name, test in re.findall(r"`([\w/]*\.py)?(?:::)?(test_\w+)?`", line):
            file = name or file
            if name or test:
                found.append((file, test))
    return found


@pytest.mark.parametrize(("file", "test"), named())
def test_what_the_page_names_is_there(file, test):
    text = ((ROOT if file.startswith("packages/") else TESTS) / file).read_text("utf-8")
    assert f"def {test}(" in text if test else "def test_" in text


def test_the_page_names_many():
    assert len(named()) > 50
