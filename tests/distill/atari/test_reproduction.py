"""The published tables."""

from collections import Counter

import pytest

from gnomon.distill.atari import reproduce
from gnomon.distill.atari.reproduction import SECTIONS


@pytest.fixture(scope="module")
def comparisons(paper):
    del paper  # skips where the data is not
    from pathlib import Path

    with pytest.MonkeyPatch.context() as patch:
        folder = Path(__file__).parents[3] / ".." / "shared" / "data"
        patch.setenv("GNOMON_DATA", str(folder))
        return list(reproduce())


EXPECTED = {
    "2": 14,
    "3": 15,
    "4": 4,
    "5": 12,
    "8": 124,
    "9": 27,
    "10": 342,
    "11": 627,
    "12": 114,
    "figure 4": 114,
    "section 5.1": 6,
    "section 5.4": 1,
    "section 5.5": 3,
    "section 6": 5,
    "section 7": 3,
}


@pytest.mark.parametrize("table", EXPECTED)
def test_every_value_of_a_table_is_equal(comparisons, table):
    found = [c for c in comparisons if c.table == table]
    assert len(found) == EXPECTED[table]
    assert [c.item for c in found if not c.equal] == []


def test_what_is_not_equal_is_known(comparisons):
    different = {(c.table, c.item) for c in comparisons if c.equal is False}
    assert different == {("section 4.3", "Atari-10"), ("appendix A", "Agent57 power MWh")}
    unknown = Counter(c.table for c in comparisons if c.equal is None)
    assert unknown == {"section 4.1": 1, "section 5.3": 3}


def test_go_explore_is_explained(comparisons):
    row = next(c for c in comparisons if c.item == "Go-Explore Atari-5")
    assert row.ours is None
    assert "1,855" in row.note


def test_every_selected_set_is_found_again(comparisons):
    found = [c for c in comparisons if c.table == "section 4.3"]
    assert [c.item for c in found if c.equal] == [
        "Atari-1",
        "Atari-3",
        "Atari-5",
        "Atari-10",
        "Atari-3-Val",
        "Atari-5-Val",
    ]


def test_one_part_alone(atari_folder):
    told = []
    parts = reproduce("table9", progress=lambda done, total: told.append((done, total)))
    assert {c.table for c in parts} == {"9"}
    assert "table9" in SECTIONS
    assert told == [(1, 1)]
