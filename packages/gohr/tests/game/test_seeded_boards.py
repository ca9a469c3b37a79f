"""Random boards, bit for bit those of the reference game server; conditions on them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from gnomon.errors import GnomonError
from gohr.game import (
    Board,
    BoardConditions,
    BoardParameters,
    JavaRandom,
    Piece,
    RandomBoards,
    draw_boards,
)
from gohr.rules import parse
from recorded_episodes import VECTORS, records

SEEDED = VECTORS / "boards_seeded.jsonl.gz"


def shown(boards: RandomBoards) -> list[str]:
    """Write a board as ``cell shape color`` of each piece, two letters a name."""
    pieces = boards.deal().pieces
    assert [piece.id for piece in pieces] == list(range(len(pieces)))
    return [f"{p.pos}{p.shape[:2]}{p.color[:2]}" for p in pieces]


# Recorded: transcripts 13 and 15 of the captive server.
def test_recorded_boards():
    boards = RandomBoards(BoardParameters((5, 5), (2, 2), (3, 3)), JavaRandom(1))
    assert shown(boards) == ["7TRRE", "19SQBL", "29TRYE", "33TRYE", "34SQRE"]
    assert shown(boards) == ["1SQYE", "14CIBL", "20CIRE", "27SQBL", "36SQBL"]
    boards = RandomBoards(BoardParameters((9, 9), (4, 4), (4, 4)), JavaRandom(5))
    assert shown(boards)[:6] == ["5STBL", "8CIBL", "10SQYE", "16STBL", "31STYE", "33TRBL"]


# Recorded: transcript 16, with the top left quarter as the ground for training.
def test_recorded_boards_for_training_and_testing():
    outside = [c for c in range(1, 37) if c not in (19, 20, 21, 25, 26, 27, 31, 32, 33)]
    conditions = BoardConditions(parse(f"(pos:{outside})"))
    boards = RandomBoards(BoardParameters((4, 4)), JavaRandom(1), conditions)
    assert shown(boards) == ["19SQYE", "21SQBL", "27STRE", "31CIRE"]
    boards.testing = True
    assert shown(boards) == ["2TRBL", "3TRYE", "28TRBL", "35STRE"]


def boards_of(job: dict[str, Any]) -> RandomBoards:
    spans = [tuple(map(int, (job[k] + ":" + job[k]).split(":")[:2])) for k in NUMBERS]
    palettes = [tuple(job[k].upper().split(";")) for k in ("shapes", "colors") if k in job]
    parameters = BoardParameters(*spans[:3], *palettes)
    conditions = BoardConditions(parse(job["cond"])) if "cond" in job else None
    random = JavaRandom(job["seed"])
    return RandomBoards(parameters, random, conditions, testing=job.get("testing", False))


NUMBERS = ("n", "nshapes", "ncolors")


@pytest.mark.skipif(not SEEDED.exists(), reason="the whole of the recordings is not here")
def test_all_recorded_boards():
    n_boards = 0
    for job in records(SEEDED):
        if job.get("crowded"):
            continue
        boards = boards_of(job)
        for recorded in job["boards"]:
            found = [(p.id, p.shape, p.color, p.pos) for p in boards.deal().pieces]
            assert found == [(p["id"], p["shape"], p["color"], p["pos"]) for p in recorded], job
            n_boards += 1
        if "error" in job:
            with pytest.raises(GnomonError, match=r"expected \d different shapes or colors on"):
                boards.deal()
    assert n_boards > 100


def test_the_same_distribution_as_the_boards_of_environments():
    """Both generators follow one description; how often each cell and name comes must agree."""
    n = 2000
    source = RandomBoards(BoardParameters((9, 9), (4, 4), (4, 4)), JavaRandom(11))
    pieces = [piece for _ in range(n) for piece in source.deal().pieces]
    codes = draw_boards(n, rng=np.random.default_rng(3))
    others = [piece for row in codes for piece in Board.from_codes(row).pieces]
    for look in (lambda p: p.pos, lambda p: p.shape, lambda p: p.color):
        counts, other_counts = Counter(map(look, pieces)), Counter(map(look, others))
        for key in counts | other_counts:
            spread = (counts[key] + other_counts[key]) ** 0.5
            assert abs(counts[key] - other_counts[key]) < 5 * spread


@pytest.mark.parametrize("seed", range(30))
def test_conditions_hold(seed):
    conditions = BoardConditions(parse("(pos:[31,36]) (shape:circle)\n(color:red) (pos:T)"))
    for testing in (False, True):
        boards = RandomBoards(
            BoardParameters((3, 9)), JavaRandom(seed), conditions, testing=testing
        )
        for _ in range(3):
            assert conditions.suits(boards.deal(), testing=testing)


def test_a_piece_meets_a_line_if_all_its_atoms_accept_it():
    conditions = BoardConditions(parse("(pos:[31,36]) (color:red)"))
    corner = Board((Piece(0, 31, "STAR", "BLUE"), Piece(1, 2, "STAR", "RED")))
    assert conditions.suits(corner, testing=False), "no single piece meets both atoms"


def test_zone_is_of_cells_alone():
    assert BoardConditions(parse("(pos:[[1,2],3,99])")).zone == (1, 2, 3)
    for text in ("(pos:T)", "(pos:[1,2], color:red)", "(pos:1)\n(pos:2)", "(pos:1) (pos:2)"):
        assert BoardConditions(parse(text)).zone is None


def test_testing_moves_a_piece_into_the_zone():
    boards = RandomBoards(
        BoardParameters((1, 1)), JavaRandom(4), BoardConditions(parse("(pos:36)")), testing=True
    )
    assert {boards.deal().pieces[0].pos for _ in range(20)} == {36}
    boards.testing = False
    assert 36 not in {boards.deal().pieces[0].pos for _ in range(200)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pieces": (40, 40)}, "expected 1 to 36 pieces, found 40"),
        ({"pieces": (0, 3)}, "expected 1 to 36 pieces, found 0"),
        ({"pieces": (5, 5), "shapes": (0, 5)}, "expected 0 to 4 shapes, found 5"),
        ({"pieces": (5, 5), "colors": (3, 3), "color_palette": ("A", "B")}, "0 to 2 colors"),
    ],
)
def test_parameters_that_cannot_be(arguments, message):
    with pytest.raises(GnomonError, match=message):
        BoardParameters(**arguments)


def test_conditions_that_no_board_meets():
    conditions = BoardConditions(parse("(color:pink) (shape:star)"))
    boards = RandomBoards(BoardParameters((2, 2)), JavaRandom(1), conditions, testing=True)
    with pytest.raises(GnomonError, match="no board for testing in 1000 tries"):
        boards.deal()
    everywhere = BoardConditions(parse(f"(pos:{list(range(1, 36))})"))
    with pytest.raises(GnomonError, match="expected 1 to 1 pieces, found 2"):
        RandomBoards(BoardParameters((2, 2)), JavaRandom(1), everywhere).deal()
