"""Boards are drawn with the distribution of the game's own generator."""

from __future__ import annotations

import itertools
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gohr import Board, BoardSpec, Piece, ReferenceGame, draw_boards
from gohr.rules import parse

SHAPES, COLORS = BoardSpec().shape_palette, BoardSpec().color_palette


@st.composite
def specs(draw: st.DrawFn) -> BoardSpec:
    def pair(low: int, high: int) -> tuple[int, int]:
        least = draw(st.integers(low, high))
        return least, draw(st.integers(least, high))

    pieces = pair(1, 36)
    shape_palette = SHAPES[: draw(st.integers(1, 4))]
    color_palette = [f"color-{i}" for i in range(draw(st.integers(1, 8)))]
    shapes = pair(0, min(pieces[0], len(shape_palette)))
    colors = pair(0, min(pieces[0], len(color_palette)))
    return BoardSpec(pieces, shapes, colors, shape_palette, color_palette)


def plain_board(uniforms: list[float], spec: BoardSpec) -> list[int]:
    """Draw one board from a row of uniforms with lists alone: the slow twin of the kernel."""
    draws = iter(uniforms)

    def pick(n: int) -> int:
        return int(next(draws) * n)

    def sample(items: list, k: int) -> list:
        for i in range(k):
            j = i + pick(len(items) - i)
            items[i], items[j] = items[j], items[i]
        return items

    n, *ks = [low + pick(high - low + 1) for low, high in (spec.pieces, spec.shapes, spec.colors)]
    cells = sample(list(range(36)), n)[:n]
    looks = [[0, 0] for _ in range(n)]
    palettes = [len(spec.shape_palette), len(spec.color_palette)]
    for feature, (k, size) in enumerate(zip(ks, palettes, strict=True)):
        names = sample(list(range(size)), k)
        pieces = sample(list(range(n)), k)
        for order, piece in enumerate(pieces):
            free = pick(k or size)  # drawn for every piece, and unused for those that are set
            looks[piece][feature] = names[order if order < k else free]
    codes = [0] * 36
    for cell, (shape, color) in zip(cells, looks, strict=True):
        codes[cell] = 1 + shape * palettes[1] + color
    return codes


def n_uniforms(spec: BoardSpec) -> int:
    return 3 + 3 * spec.pieces[1] + 2 * (spec.shapes[1] + spec.colors[1])


@given(specs(), st.integers(0, 2**32), st.sampled_from([3, 21]))
def test_the_kernel_draws_as_its_slow_twin_does(spec: BoardSpec, seed: int, n: int) -> None:
    """A few boards are drawn by the plain kernel, many by the compiled one."""
    boards = draw_boards(n, spec, rng=np.random.default_rng(seed))
    uniforms = np.random.default_rng(seed).random((n, n_uniforms(spec)))
    assert boards.tolist() == [plain_board(row, spec) for row in uniforms.tolist()]


@given(specs(), st.integers(0, 2**32))
def test_every_board_is_within_its_spec(spec: BoardSpec, seed: int) -> None:
    for codes in draw_boards(5, spec, rng=np.random.default_rng(seed)):
        board = Board.from_codes(codes, spec)
        assert spec.pieces[0] <= len(board.pieces) <= spec.pieces[1]
        for (low, high), names in [
            (spec.shapes, {p.shape for p in board.pieces}),
            (spec.colors, {p.color for p in board.pieces}),
        ]:
            assert low == 0 or low <= len(names) <= high
        assert (board.codes(spec) == codes).all()


def designate(n: int, k: int, palette: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Draw the names of n pieces as the reference's generator is described to do."""
    classes = rng.integers(0, k, n)
    classes[rng.permutation(n)[:k]] = np.arange(k)
    return tuple(np.sort(rng.permutation(palette)[:k])[classes].tolist())


def test_shapes_have_the_distribution_of_the_reference() -> None:
    rng = np.random.default_rng(0)
    n, k, palette, n_boards = 4, 2, 3, 30_000
    spec = BoardSpec(n, k, 0, SHAPES[:palette], COLORS[:1])
    ours = Counter(tuple(b[b > 0].tolist()) for b in draw_boards(n_boards, spec, rng=rng))
    theirs = Counter(tuple(1 + s for s in designate(n, k, palette, rng)) for _ in range(n_boards))
    seen = sorted(set(ours) | set(theirs))
    table = [[ours[s] for s in seen], [theirs[s] for s in seen]]
    assert len(seen) == 3 * (2**4 - 2)
    assert stats.chi2_contingency(table).pvalue > 1e-3


def test_cells_are_uniform() -> None:
    boards = draw_boards(20_000, rng=np.random.default_rng(1))
    # Nine cells a board without replacement: the counts vary less than multinomially.
    counts = (boards > 0).sum(axis=0)
    expected = 20_000 * 9 / 36
    statistic = ((counts - expected) ** 2 / (expected * 27 / 36) * 35 / 36).sum()
    assert 0.001 < stats.chi2.sf(statistic, 35) < 0.999


def test_drawing_in_two_parts_is_drawing_at_once() -> None:
    rng = np.random.default_rng(5)
    parts = np.concatenate([draw_boards(3, rng=rng), draw_boards(40, rng=rng)])
    assert (parts == draw_boards(43, rng=np.random.default_rng(5))).all()


def test_quadrants() -> None:
    pieces = [Piece(0, pos) for pos in range(1, 37)]
    corners = [(0, 7), (7, 7), (7, 0), (0, 0)]
    rule = parse("(*,*,*,*,Nearby)")
    for piece in pieces:
        far = [(piece.x - x) ** 2 + (piece.y - y) ** 2 for x, y in corners]
        game = ReferenceGame(rule, Board((piece,)))
        assert game.legal_moves() == [(piece.id, far.index(min(far)))]
    assert [(p.x, p.y) for p in pieces[:7]] == [*itertools.product(range(1, 7), [1]), (1, 2)]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"pieces": 0}, "pieces: expected between 1 and 36, found 0"),
        ({"pieces": (9, 37)}, "pieces: expected between 1 and 36, found [9, 37]"),
        ({"pieces": (9, 5)}, "pieces: expected (least, most), the lesser first, found [9, 5]"),
        ({"pieces": (1, 2, 3)}, "pieces: expected a number or (least, most), found (1, 2, 3)"),
        ({"colors": 2.5}, "colors: expected a number or (least, most), found 2.5"),
        ({"shapes": 5}, "shapes: expected between 0 and 4, found 5"),
        ({"pieces": 3}, "shapes: expected between 0 and 3, found 4"),
        ({"color_palette": ["red", "RED"]}, "color_palette: expected different names"),
        (
            {
                "shape_palette": [f"s{i}" for i in range(16)],
                "color_palette": list("abcdefghijklmnop"),
            },
            "expected at most 255 combinations of shape and color, found 256",
        ),
    ],
)
def test_a_spec_that_cannot_be_drawn_is_told(fields: dict, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        BoardSpec(**fields)


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        ([Piece(0, 1, "STAR", "RED"), Piece(1, 1, "STAR", "RED")], "several pieces in cell 1"),
        ([Piece(0, 1, "MOON", "RED")], "piece 0 (RED MOON) is not in the palettes"),
        ([Piece(0, 1, properties={"size": "2"})], "piece 0 (None None) is not in the palettes"),
    ],
)
def test_a_board_that_has_no_codes_is_told(pieces: list[Piece], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Board(tuple(pieces)).codes(BoardSpec())


def test_a_negative_number_of_boards_is_refused():
    with pytest.raises(ValueError, match="n_boards: expected at least 0, found -2"):
        draw_boards(-2, rng=np.random.default_rng(0))
