import pytest

from gohr.rules import BUILT_IN_ORDERS


def test_built_in_orders_list_every_cell_once() -> None:
    for ranks in BUILT_IN_ORDERS.values():
        assert sorted(cell for rank in ranks for cell in rank) == list(range(1, 37))


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("B", range(1, 7), range(31, 37)),
        ("T", range(31, 37), range(1, 7)),
        ("L", range(1, 32, 6), range(6, 37, 6)),
        ("R", range(6, 37, 6), range(1, 32, 6)),
        ("NearestObject", (1, 6, 31, 36), (15, 16, 21, 22)),
        ("Farthest", (15, 16, 21, 22), (1, 6, 31, 36)),
    ],
)
def test_orders_with_ties(name: str, first: range, last: range) -> None:
    ranks = BUILT_IN_ORDERS[name]
    assert (sorted(ranks[0]), sorted(ranks[-1])) == (sorted(first), sorted(last))


@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("L1", [31, 32, 33, 34, 35, 36, 25]),  # as one reads English
        ("L2", [36, 35, 34, 33, 32, 31, 30]),
        ("L3", [36, 30, 24, 18, 12, 6, 35]),
        ("L4", [31, 25, 19, 13, 7, 1, 32]),
    ],
)
def test_strict_orders(name: str, beginning: list[int]) -> None:
    ranks = BUILT_IN_ORDERS[name]
    assert all(len(rank) == 1 for rank in ranks)
    assert [rank[0] for rank in ranks[:7]] == beginning
