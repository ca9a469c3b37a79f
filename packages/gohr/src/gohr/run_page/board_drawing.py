"""A board as players see it: pieces in shapes and colours, a numbered bucket at each corner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import is_color_like
from matplotlib.patches import Circle, FancyBboxPatch, Patch, Polygon, Rectangle

from gnomon.plot.style import SIZE, new_drawing
from gohr.board import BUCKET_PLACES, DEFAULT_SPEC, N_CELLS, Board, BoardSpec, Piece

# A board is an object on the page and keeps its own colours on light and on dark paper.
_FACE, _LINE, _FAINT, _BUCKET, _EDGE = "#f7f3ea", "#ddd5c3", "#b3a88f", "#6b5f48", "#3a3428"
_COLORS: Mapping[str, str] = {
    "RED": "#d03a2f",
    "BLACK": "#26282c",
    "BLUE": "#2a6fbb",
    "YELLOW": "#f4c430",
}


def draw_board(
    board: Board | npt.ArrayLike,
    *,
    spec: BoardSpec = DEFAULT_SPEC,
    numbers: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw a board: its pieces, the numbers of its cells, and the four buckets.

    Parameters
    ----------
    board : Board or array_like of int, shape (36,)
        A board, or its row of codes.
    spec : BoardSpec
        Gives the palettes that codes index.
    numbers : bool
        Whether to write the number of every cell, faintly.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes
        Cell ``pos`` lies at ``x = 1 + (pos - 1) % 6``, ``y = 1 + (pos - 1) // 6``.

    Examples
    --------
    >>> import gohr
    >>> [board] = gohr.draw_boards(1)
    >>> len(draw_board(board).patches) > 0
    True
    """
    pieces = _pieces(board, spec)
    if ax is None:
        ax = new_drawing(3.4, 3.4).subplots()
    _ground(ax, numbers=numbers)
    for piece in pieces:
        _draw_piece(ax, piece)
    ax.set_xlim(-0.55, 7.55)
    ax.set_ylim(-0.55, 7.55)
    ax.set_aspect("equal")
    ax.axis("off")
    return ax


def _pieces(board: Board | npt.ArrayLike, spec: BoardSpec) -> tuple[Piece, ...]:
    if isinstance(board, Board):
        return board.pieces
    codes = np.asarray(board)
    if codes.shape != (N_CELLS,):
        raise ValueError(f"expected a Board or {N_CELLS} codes, found shape {codes.shape}")
    return Board.from_codes(codes.tolist(), spec).pieces


def _ground(ax: Axes, *, numbers: bool) -> None:
    """Draw the wood, the cells and the buckets."""
    ax.add_patch(
        FancyBboxPatch((0, 0), 7, 7, boxstyle="round,pad=0.5", facecolor=_FACE, edgecolor=_LINE)
    )
    for pos in range(1, N_CELLS + 1):
        x, y = (pos - 1) % 6 + 1, (pos - 1) // 6 + 1
        ax.add_patch(
            Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor="none", edgecolor=_LINE, linewidth=0.8)
        )
        if numbers:
            ax.text(x - 0.46, y + 0.46, str(pos), fontsize=SIZE - 3.5, color=_FAINT, va="top")
    for bucket, (y, x) in enumerate(BUCKET_PLACES):
        ax.add_patch(Circle((x, y), 0.4, facecolor="#ece4d2", edgecolor=_BUCKET, linewidth=1.4))
        ax.text(
            x, y, str(bucket), ha="center", va="center_baseline", fontsize=SIZE + 1,
            color=_BUCKET, fontweight="bold",
        )  # fmt: skip


def _corners(radii: Sequence[float], turn: float = np.pi / 2) -> npt.NDArray[np.float64]:
    """Return the corners of a shape around (0, 0), at these distances, one after another."""
    angles = turn + np.arange(len(radii)) * 2 * np.pi / len(radii)
    directions: npt.NDArray[np.float64] = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.array(radii)[:, None] * directions


_OUTLINES: Mapping[str, npt.NDArray[np.float64]] = {
    "STAR": _corners([0.4, 0.17] * 5),
    "SQUARE": _corners([0.37] * 4, np.pi / 4),
    "TRIANGLE": np.array([(-0.34, -0.27), (0.34, -0.27), (0.0, 0.33)]),
}


def _draw_piece(ax: Axes, piece: Piece) -> None:
    """Draw one piece; a shape without an outline is drawn as a hexagon with its name."""
    x, y = piece.x, piece.y
    shape, color = piece.shape or "", piece.color or ""
    fill = _COLORS.get(color) or (color.lower() if is_color_like(color.lower()) else "#9a9a9a")
    patch: Patch
    if shape == "CIRCLE":
        patch = Circle((x, y), 0.29, facecolor=fill, edgecolor=_EDGE, linewidth=0.9)
    else:
        outline = _OUTLINES.get(shape, _corners([0.36] * 6))
        patch = Polygon(
            outline + np.array([x, y]), facecolor=fill, edgecolor=_EDGE, linewidth=0.9,
            joinstyle="round",
        )  # fmt: skip
    patch.set_gid(f"piece-{piece.pos}-{piece.id}")
    ax.add_patch(patch)
    if shape != "CIRCLE" and shape not in _OUTLINES:
        name = shape or " ".join((piece.properties or {}).values())
        ax.text(x, y, name[:5].lower(), ha="center", va="center", fontsize=SIZE - 4)


def board_rows(
    board: Board | npt.ArrayLike, *, spec: BoardSpec = DEFAULT_SPEC
) -> tuple[Mapping[str, int | str | None], ...]:
    """Return what :func:`draw_board` shows: a row a piece."""
    return tuple(
        {"id": p.id, "pos": p.pos, "x": p.x, "y": p.y, "shape": p.shape, "color": p.color}
        for p in _pieces(board, spec)
    )
