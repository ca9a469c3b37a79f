"""A drawn board has its pieces where they lie, in their colours and shapes."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Circle, Polygon

from gohr import Board, BoardSpec, Piece, draw_boards
from gohr.run_page import draw_board


def pieces(ax):
    return {p.get_gid(): p for p in ax.patches if p.get_gid()}


def test_every_piece_lies_in_its_cell():
    codes = draw_boards(1, rng=np.random.default_rng(3))[0]
    board = Board.from_codes(codes)
    drawn = pieces(draw_board(codes))
    assert len(drawn) == 9
    for piece in board.pieces:
        patch = drawn[f"piece-{piece.pos}-{piece.id}"]
        box = patch.get_path().transformed(patch.get_patch_transform()).get_extents()
        assert abs(box.x0 + box.x1 - 2 * piece.x) < 0.1
        assert abs(box.y0 + box.y1 - 2 * piece.y) < 0.15
        assert max(box.width, box.height) < 1


def test_shapes_and_colours_differ():
    spec = BoardSpec()
    drawn = pieces(draw_board(np.arange(36) % 17, spec=spec))
    circles = [p for p in drawn.values() if isinstance(p, Circle)]
    corners = {len(p.get_path()) for p in drawn.values() if isinstance(p, Polygon)}
    assert circles
    assert corners == {4 + 1, 3 + 1, 10 + 1}
    assert len({to_hex(p.get_facecolor()) for p in drawn.values()}) == 4


def test_buckets_and_cells_are_numbered():
    ax = draw_board(np.zeros(36, dtype=int))
    where = {t.get_text(): t.get_position() for t in ax.texts if t.get_fontweight() == "bold"}
    assert where == {"0": (0, 7), "1": (7, 7), "2": (7, 0), "3": (0, 0)}
    assert len(ax.texts) == 40
    assert len(draw_board(np.zeros(36, dtype=int), numbers=False).texts) == 4


def test_a_piece_of_another_kind_bears_its_name():
    strange = (
        Piece(0, 1, "HEART", "GREEN"),
        Piece(1, 2, None, None, {"animal": "dog"}),
        Piece(2, 3, "STAR", "NO-SUCH-COLOUR"),
    )
    ax = draw_board(Board(strange), numbers=False)
    ax.figure.draw_without_rendering()
    assert {"heart", "dog"} <= {t.get_text() for t in ax.texts}


def test_a_wrong_shape_is_refused():
    with pytest.raises(ValueError, match="expected a Board or 36 codes, found shape \\(6, 6\\)"):
        draw_board(np.zeros((6, 6)))
