"""Write docs/gohr/rule-library.md and pictures of rules: ``python docs/make_rule_library.py [FOLDER]``.

Every rule of the library by family: title, sentence, text, tags, the ratio of three learners'
errors to those on a baseline, and one board, the same for all, with the moves that the rule accepts
on it. Rules that depend on earlier moves are shown after two moves.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Polygon, Rectangle

from gnomon.errors import joined
from gnomon.plot.style import FULL_WIDTH, INK, SERIES, SIZE, new_drawing, svg_text
from gnomon.scores import load_scores
from gohr import Board, Piece, ReferenceGame, draw_boards
from gohr.experiments import Trials, compare_trials
from gohr.experiments.rule_elements import bracketed
from gohr.reference import Move
from gohr.rules import FAMILIES, available_rules, load_rule, load_rule_text, rule_info
from gohr.rules.catalogue import RuleInfo
from gohr.rules.orders import BUILT_IN_ORDERS
from gohr.run_page import draw_board

#: A board on which most rules tell several kinds of pieces apart: among the best of 1,000 in that.
SEED = 956
#: The rule that the others are compared with, and the learners of the scores that come with gnomon.
BASELINE = "color-match"
LEARNERS = {
    "table": "table, learning_rate=0.25, gamma=0.5, initial_value=-0.75, epsilon_start=0.0",
    "reinforce": "reinforce, learning_rate=0.1, baseline=mean",
    "dqn": "dqn, learning_rate=0.03, gamma=1.0",
}
_LOOKS_BACK = {"memory", "metered", "several-lines"}
_ALLOWED, _USED = SERIES[2], "#8a7f68"
_ORDER_RGB = to_rgb(SERIES[0])
#: Where a bucket stands, seen from the middle of the board.
_CORNERS = ((-1, 1), (1, 1), (1, -1), (-1, -1))


class Example(NamedTuple):
    """A state of play under a rule.

    ``before`` are the moves that led there, ``allowed`` those that the rule accepts now.
    """

    board: Board
    before: tuple[Move, ...]
    allowed: tuple[Move, ...]


def example_board() -> Board:
    """Return the board of all pictures."""
    return Board.from_codes(draw_boards(1, rng=np.random.default_rng(SEED))[0])


def example_of(name: str, board: Board) -> Example:
    """Play the moves that lead to a state worth looking at: not over, and not as at the start."""
    n_moves = 2 if _LOOKS_BACK & set(rule_info(name).tags) else 0
    rng = np.random.default_rng(1)
    while True:
        game = ReferenceGame(load_rule(name), board)
        before: list[Move] = []
        while len(before) < n_moves and (moves := game.legal_moves()):
            before.append(moves[int(rng.integers(len(moves)))])
            game.attempt(*before[-1])
        if allowed := tuple(game.legal_moves()):
            return Example(board, tuple(before), allowed)


def draw_example(example: Example, ax: Axes) -> None:
    """Draw a state: a mark in each cell towards the buckets allowed, pale what cannot be moved."""
    gone = dict(example.before)
    movable = {piece_id for piece_id, _ in example.allowed}
    pieces = {piece.id: piece for piece in example.board.pieces}
    draw_board(example.board, numbers=False, ax=ax)
    pale = {f"piece-{piece.pos}-{piece.id}" for i, piece in pieces.items() if i not in movable}
    for patch in ax.patches:
        if patch.get_gid() in pale:
            patch.set_alpha(0.25)
    for piece_id, bucket in example.allowed:
        ax.add_patch(_mark(pieces[piece_id], bucket))
    for number, (piece_id, bucket) in enumerate(gone.items(), start=1):
        _draw_move(ax, pieces[piece_id], bucket, is_last=number == len(gone))


def _draw_move(ax: Axes, piece: Piece, bucket: int, *, is_last: bool) -> None:
    """Draw where a piece lay that is gone, and into which bucket it went."""
    corner = piece.x - 0.5, piece.y - 0.5
    ax.add_patch(Rectangle(corner, 1, 1, facecolor="none", edgecolor=_USED, linestyle=":"))
    weight = "bold" if is_last else "normal"
    style = {"ha": "center", "va": "center", "fontsize": SIZE - 0.5, "color": INK}
    ax.text(piece.x, piece.y, f"→{bucket}", fontweight=weight, **style)


def _mark(piece: Piece, bucket: int) -> Polygon:
    """Return a corner of a cell, filled: the corner that looks to the bucket."""
    right, up = _CORNERS[bucket]
    corner_x, corner_y = piece.x + 0.48 * right, piece.y + 0.48 * up
    points = [
        (corner_x, corner_y),
        (corner_x - 0.28 * right, corner_y),
        (corner_x, corner_y - 0.28 * up),
    ]
    return Polygon(
        points, facecolor=_ALLOWED, edgecolor="none", gid=f"allowed-{piece.pos}-{bucket}"
    )


def picture_of(name: str, example: Example) -> str:
    """Return the picture of a rule as the text of an SVG file."""
    drawing = new_drawing(2.6, 2.6)
    drawing.patch.set_alpha(0)
    draw_example(example, drawing.subplots())
    return _compact(svg_text(drawing, name))


def _compact(svg: str) -> str:
    """Remove blanks, and all ids but those of the marks."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r' (?:clip-path="[^"]*"|id="(?!piece|allowed|axes|p[0-9a-f]{9,})[^"]*")', "", svg)
    svg = re.sub(r"<clipPath.*?</clipPath>|<defs>\s*</defs>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"stroke-linejoin: (?:miter|round)(?:; )?", "", svg)
    return re.sub(r"\s+", " ", svg).replace("> <", "><").strip() + "\n"


def page() -> str:
    """Return the text of the page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    board = example_board()
    yield "# The rule library"
    yield ""
    yield (
        f"{len(available_rules())} rules come with Gnomon, in {len(FAMILIES)} families, each of "
        "which varies one element of the task. `gohr rules list --family NAME` lists a family, and "
        "`load_rule(NAME)` loads a rule. This page reveals every rule: do not read it if you want "
        "to play."
    )
    yield ""
    pieces = [f"{x.color} {x.shape} in cell {x.pos}".lower() for x in board.pieces]
    yield (
        f"All pictures show the same board: {', '.join(pieces)}. A green corner in a cell points "
        "to a bucket that accepts its piece now; pale pieces cannot be moved. Rules that depend on "
        "earlier moves are shown after two moves: a dotted cell was emptied, its arrow names the "
        "bucket, and the later arrow is bold."
    )
    yield ""
    yield (
        "Below each rule are its [tags](game.md#tags) and the ratio of three learners' median "
        f"errors to those on `{BASELINE}`, with its 95 % interval, as "
        "[`gohr elements`](elements.md) computes it from the trials of [the results](results.md). "
        "≥ marks a lower bound: most trials did not learn the rule."
    )
    yield ""
    yield f"Families: {', '.join(f'[{family}](#{family})' for family in FAMILIES)}."
    for family, sentence in FAMILIES.items():
        yield ""
        yield '<div style="clear: both"></div>'
        yield ""
        yield f"## {family.capitalize()}"
        yield ""
        yield sentence
        for name in available_rules(family):
            yield from _section(rule_info(name), example_of(name, board))


@cache
def _trials() -> dict[str, dict[str, Trials]]:
    """Return the errors of 20 trials of each learner on each rule, and which learned the rule."""
    errors, to_learn = (load_scores("gohr-full", score) for score in ("tce", "errors_to_learn"))
    return {
        learner: {
            rule: Trials(errors.runs(name, rule), np.isfinite(to_learn.runs(name, rule)))
            for rule in errors.tasks
        }
        for learner, name in LEARNERS.items()
    }


def _ratios(rule: str) -> str:
    """Return the ratio of each learner's median errors on a rule to those on the baseline."""
    found = []
    for learner, trials in _trials().items():
        e = compare_trials(trials[rule], trials[BASELINE], n_resamples=2_000)
        found.append(f"{learner} {bracketed(e.ratio, e.low, e.high, '', e.bound)}")
    return "; ".join(found)


def _section(info: RuleInfo, example: Example) -> Iterator[str]:
    """Yield the part of the page on one rule."""
    body = [line for line in load_rule_text(info.name).split("\n") if not line.startswith("#")]
    picture = f"../images/rules/{info.name}.svg"
    yield ""
    yield f"### {info.title} {{ #{info.name} style='clear: both' }}"
    yield ""
    yield f"![{_in_words(example)}]({picture}){{ align=right width=210 }}"
    yield ""
    yield info.sentence
    yield ""
    yield f"```text title='{info.name}'"
    yield "\n".join(body).strip("\n")
    yield "```"
    yield ""
    yield " ".join(f"`{tag}`" for tag in info.tags)
    if info.name in _trials()["table"] and info.name != BASELINE:
        yield ""
        yield f"*Error ratio:* {_ratios(info.name)}"


def _in_words(example: Example) -> str:
    """Describe a picture in words, for its alternative text: cells and buckets."""
    cells = {piece.id: str(piece.pos) for piece in example.board.pieces}
    after = ", ".join(f"{cells[i]} to {bucket}" for i, bucket in example.before)
    buckets: dict[int, list[str]] = {}
    for piece_id, bucket in example.allowed:
        buckets.setdefault(piece_id, []).append(str(bucket))
    alike: dict[str, list[str]] = {}
    for piece_id, each in buckets.items():
        alike.setdefault(joined(each, "or"), []).append(cells[piece_id])
    now = "; ".join(f"{', '.join(each)} to {where}" for where, each in alike.items())
    noun = "cell" if len(buckets) == 1 else "cells"
    moves = f"after {after}, {noun}" if after else noun
    return f"{moves} {now.replace(' to ', ' to bucket ', 1)}".capitalize()


def language_board() -> str:
    """Return the picture of the board of the examples on the page of the language."""
    held = [(8, "STAR", "RED"), (10, "STAR", "BLUE"), (22, "CIRCLE", "RED"),
            (29, "SQUARE", "BLACK"), (36, "TRIANGLE", "YELLOW")]  # fmt: skip
    drawing = new_drawing(3.2, 3.2)
    board = Board(tuple(Piece(i, *each) for i, each in enumerate(held, start=1)))
    draw_board(board, ax=drawing.subplots())
    return _compact(svg_text(drawing, "language-board"))


def order_grids() -> str:
    """Return a picture of the built-in orders: the rank of each cell, the earlier the darker."""
    drawing = new_drawing(FULL_WIDTH, 3.4)
    for ax, (name, ranks) in zip(
        drawing.subplots(2, 5).ravel(), BUILT_IN_ORDERS.items(), strict=True
    ):
        for rank, cells in enumerate(ranks):
            shade = 0.85 * (1.0 - rank / (len(ranks) - 1)) + 0.05
            for cell in cells:
                row, column = divmod(cell - 1, 6)
                ax.add_patch(
                    Rectangle((column, row), 1, 1, facecolor=(*_ORDER_RGB, shade), edgecolor="#fff")
                )
                ax.text(
                    column + 0.5, row + 0.48, str(rank + 1), ha="center", va="center",
                    fontsize=SIZE - 2.5, color="#ffffff" if shade > 0.7 else INK,
                )  # fmt: skip
        ax.set_xlim(0, 6)
        ax.set_ylim(0, 6)
        ax.set_aspect("equal")
        ax.axis("off")
        ax.set_title(name, fontsize=SIZE, color=INK)
    return _compact(svg_text(drawing, "orders"))


def make_rule_library(folder: Path) -> list[Path]:
    """Write the page and all pictures below a folder, and return their paths."""
    pictures = folder / "images" / "rules"
    pictures.mkdir(parents=True, exist_ok=True)
    written = [folder / "gohr" / "rule-library.md"]
    written[0].parent.mkdir(exist_ok=True)
    written[0].write_text(page(), encoding="utf-8")
    board = example_board()
    for name in available_rules():
        written.append(pictures / f"{name}.svg")
        written[-1].write_text(picture_of(name, example_of(name, board)), encoding="utf-8")
    language = folder / "images" / "language"
    language.mkdir(exist_ok=True)
    for name, text in (("board", language_board()), ("orders", order_grids())):
        written.append(language / f"{name}.svg")
        written[-1].write_text(text, encoding="utf-8")
    return written


if __name__ == "__main__":
    paths = make_rule_library(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent)
    print(f"{len(paths)} files, {sum(path.stat().st_size for path in paths):,} bytes")
