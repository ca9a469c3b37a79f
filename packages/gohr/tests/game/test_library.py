"""The rules of the library do on boards what their comments say."""

import numpy as np

from gohr import Board, BoardSpec, Piece, ReferenceGame, find_stalemate
from gohr.outcomes import CLEARED
from gohr.rules import available_rules, load_rule, rule_info

SHAPES, COLORS = BoardSpec().shape_palette, BoardSpec().color_palette

N_BUCKETS = {"one-bucket": {1}, "two-buckets": {2}, "three-buckets": {3}, "any-bucket": {4}}


def a_board(rng: np.random.Generator) -> Board:
    cells = sorted(int(cell) for cell in rng.choice(36, 9, replace=False) + 1)
    return Board(
        tuple(
            Piece(number, cell, str(rng.choice(SHAPES)), str(rng.choice(COLORS)))
            for number, cell in enumerate(cells)
        )
    )


def test_any_accepted_moves_clear_the_board() -> None:
    for name in available_rules():
        tags = rule_info(name).tags
        rng = np.random.default_rng(5)
        for _ in range(4):
            game = ReferenceGame(load_rule(name), a_board(rng))
            seen: set[int] = set()
            while moves := game.legal_moves():
                pieces = [piece_id for piece_id, _ in moves]
                seen |= {pieces.count(piece_id) for piece_id in pieces}
                game.attempt(*moves[int(rng.integers(len(moves)))])
            assert game.finish == CLEARED or "can-stall" in tags, name
            expected = next((n for tag, n in N_BUCKETS.items() if tag in tags), {1, 2, 3, 4})
            assert seen <= expected | ({4} if "free-start" in tags else set()), name


def test_only_rules_that_say_so_can_get_stuck() -> None:
    for name in available_rules():
        found = find_stalemate(load_rule(name), max_states=150)
        assert (found.board is not None) == ("can-stall" in rule_info(name).tags), name
