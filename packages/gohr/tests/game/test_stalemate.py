import itertools
from typing import Any

import pytest
from hypothesis import given, settings

import strategies_rules as rules
from gohr import Board, BoardSpec, Piece, ReferenceGame, find_stalemate
from gohr.errors import RuleError
from gohr.outcomes import STALEMATE
from gohr.rules import RuleSet, parse

SHAPES, COLORS = BoardSpec().shape_palette, BoardSpec().color_palette


def search(text: str, **options: int) -> Any:
    return find_stalemate(parse(text), **options)  # type: ignore[arg-type]  # all are numbers


def is_stuck_after(rule_set: RuleSet, found: Any) -> bool:
    assert found.board is not None
    game = ReferenceGame(rule_set, found.board)
    assert all(game.attempt(*move) == 0 for move in found.moves)
    return game.finish == STALEMATE


@pytest.mark.parametrize(
    ("text", "n_pieces", "n_moves"),
    [
        ("(*,[star,circle,square],*,*,0)", 1, 0),
        ("(*,*,*,*,p)", 1, 0),
        ("(*,*,*,[1,2,3],0)", 1, 0),
        ("(code:this.color==last.color)", 2, 1),
        ("(*,square,*,B,0) (*,[star,circle,triangle],*,T,0)", 2, 0),
        ("(color:red, code:!p) (color:blue) (color:[black,yellow], code:q.color.pos)", 1, 0),
        ("(*,*,[blue,black,yellow],*,0) (color:red, code:!p)", 2, 1),
    ],
)
def test_a_smallest_board(text: str, n_pieces: int, n_moves: int) -> None:
    found = search(text)
    assert found.board is not None
    assert (len(found.board.pieces), len(found.moves)) == (n_pieces, n_moves)
    assert found.is_smallest
    assert is_stuck_after(parse(text), found)


@pytest.mark.parametrize(
    "text",
    ["(*,*,*,*,0)", "(1,*,*,*,*)\n(*,*,*,*,p+1)", "(*,*,*,L1,Nearby)", "(1,*,*,*,0)\n(1,*,*,*,1)"],
)
def test_rules_that_never_get_stuck(text: str) -> None:
    found = search(text)
    assert (found.board, found.moves, found.is_smallest) == (None, (), False)
    assert found.n_pieces_searched >= 2
    assert str(found).startswith("no stalemate found: all boards of up to ")


def test_a_stalemate_found_at_random_is_made_smaller() -> None:
    text = "(pos:L1, code:this.color==last.color)"
    found = search(text, max_states=100)
    assert found.n_pieces_searched == 0
    assert found.board is not None
    assert len(found.board.pieces) == 2
    assert not found.is_smallest
    assert is_stuck_after(parse(text), found)
    assert "; a small board: " in str(found)


def test_the_answer_in_words() -> None:
    assert str(search("(*,*,[red,black,blue],*,0)")) == (
        "can get stuck; smallest board: yellow square in cell 1; at once"
    )
    assert str(search("(code:this.color==last.color, bucket:1)")) == (
        "can get stuck; smallest board: red square in cell 1, black square in cell 2; "
        "after cell 1 to bucket 1"
    )


def test_names_of_ones_own_are_the_pieces_that_there_are() -> None:
    assert search("(*,[heart,cross],*,*,0)").board is None
    found = find_stalemate(parse("(*,heart,*,*,0)"), shapes=["HEART", "CROSS"])
    assert found.board is not None
    assert found.board.pieces[0].shape == "CROSS"


def test_a_rule_that_cannot_be_played() -> None:
    with pytest.raises(RuleError, match="unknown order 'Nowhere'"):
        search("(*,*,*,Nowhere,0)")


@given(rules.rule_sets(max_lines=2, max_atoms=2))
@settings(max_examples=40, deadline=None)
def test_one_piece_is_searched_as_exhaustively_as_by_brute_force(rule_set: RuleSet) -> None:
    boards = (
        Board((Piece(0, pos, shape, color),))
        for pos, shape, color in itertools.product(range(1, 37), SHAPES, COLORS)
    )
    stuck = any(ReferenceGame(rule_set, board).finish == STALEMATE for board in boards)
    found = find_stalemate(rule_set, shapes=SHAPES, colors=COLORS, max_states=600, max_pieces=1)
    assert (found.board is not None) == stuck
    if stuck:
        assert is_stuck_after(rule_set, found)


@given(rules.rule_sets(max_lines=2, max_atoms=2))
@settings(max_examples=30, deadline=None)
def test_what_is_found_is_stuck(rule_set: RuleSet) -> None:
    found = find_stalemate(rule_set, max_states=200)
    if found.board is not None:
        assert is_stuck_after(rule_set, found)
