"""Random boards, bit for bit those of the reference game server; conditions on them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from gnomon.errors import GnomonError
from gohr import Board, ReferenceGame, draw_boards
from gohr.rules import parse
from gohr.seeded_boards import SeededBoards
from recorded_episodes import VECTORS, records

SEEDED = VECTORS / "boards_seeded.jsonl.gz"


def shown(boards: SeededBoards) -> list[str]:
    """Write a board as ``cell shape color`` of each piece, two letters a name."""
    pieces = boards.deal().pieces
    assert [piece.id for piece in pieces] == list(range(len(pieces)))
    return [f"{p.pos}{p.shape[:2]}{p.color[:2]}" for p in pieces]


# Recorded: transcripts 13 and 15 of the captive server.
def test_recorded_boards():
    boards = SeededBoards((5, 5), (2, 2), (3, 3), seed=1)
    assert shown(boards) == ["7TRRE", "19SQBL", "29TRYE", "33TRYE", "34SQRE"]
    assert shown(boards) == ["1SQYE", "14CIBL", "20CIRE", "27SQBL", "36SQBL"]
    boards = SeededBoards((9, 9), (4, 4), (4, 4), seed=5)
    assert shown(boards)[:6] == ["5STBL", "8CIBL", "10SQYE", "16STBL", "31STYE", "33TRBL"]


# Recorded: transcript 16, with the top left quarter as the ground for training.
def test_recorded_boards_for_training_and_testing():
    outside = [c for c in range(1, 37) if c not in (19, 20, 21, 25, 26, 27, 31, 32, 33)]
    boards = SeededBoards((4, 4), seed=1, conditions=parse(f"(pos:{outside})"))
    assert shown(boards) == ["19SQYE", "21SQBL", "27STRE", "31CIRE"]
    boards.testing = True
    assert shown(boards) == ["2TRBL", "3TRYE", "28TRBL", "35STRE"]


def boards_of(job: dict[str, Any]) -> SeededBoards:
    spans = [tuple(map(int, (job[k] + ":" + job[k]).split(":")[:2])) for k in NUMBERS]
    palettes = [tuple(job[k].upper().split(";")) for k in ("shapes", "colors") if k in job]
    named = dict(zip(("shape_palette", "color_palette"), palettes, strict=False))
    if "cond" in job:
        named |= {"conditions": parse(job["cond"]), "testing": job.get("testing", False)}
    return SeededBoards(*spans[:3], seed=job["seed"], **named)


NUMBERS = ("n", "nshapes", "ncolors")


@pytest.mark.skipif(not SEEDED.exists(), reason="the recorded episodes are not in the repository")
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
    source = SeededBoards((9, 9), (4, 4), (4, 4), seed=11)
    pieces = [piece for _ in range(n) for piece in source.deal().pieces]
    codes = draw_boards(n, rng=np.random.default_rng(3))
    others = [piece for row in codes for piece in Board.from_codes(row).pieces]
    for look in (lambda p: p.pos, lambda p: p.shape, lambda p: p.color):
        counts, other_counts = Counter(map(look, pieces)), Counter(map(look, others))
        for key in counts | other_counts:
            spread = (counts[key] + other_counts[key]) ** 0.5
            assert abs(counts[key] - other_counts[key]) < 5 * spread


def test_conditions_hold():
    """A piece meets a line if all of its atoms accept it."""
    conditions = parse("(pos:[31,36]) (shape:circle)\n(color:red) (pos:T)")
    lines = [[parse(text) for text in line] for line in (
        ("(pos:[31,36])", "(shape:circle)"), ("(color:red)", "(pos:T)"))]  # fmt: skip

    def meets(board: Board, atoms: list) -> bool:
        accepted = [{i for i, _ in ReferenceGame(atom, board).legal_moves()} for atom in atoms]
        return bool(set.intersection(*accepted))

    for seed in range(10):
        for testing in (False, True):
            boards = SeededBoards((3, 9), seed=seed, conditions=conditions, testing=testing)
            for _ in range(3):
                board = boards.deal()
                assert any(meets(board, atoms) for atoms in lines) == testing


def test_testing_moves_a_piece_into_the_zone():
    boards = SeededBoards((1, 1), seed=4, conditions=parse("(pos:36)"), testing=True)
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
        SeededBoards(**arguments, seed=1)


def test_conditions_that_no_board_meets():
    conditions = parse("(color:pink) (shape:star)")
    boards = SeededBoards((2, 2), seed=1, conditions=conditions, testing=True)
    with pytest.raises(GnomonError, match="no board for testing in 1000 tries"):
        boards.deal()
    everywhere = parse(f"(pos:{list(range(1, 36))})")
    with pytest.raises(GnomonError, match="expected 1 to 1 pieces, found 2"):
        SeededBoards((2, 2), seed=1, conditions=everywhere).deal()
