"""Draw docs/images/player.gif: ``python docs/make_player_animation.py [FILE]``.

The ideal learner plays one board of the rule ``color-match``, and beside the board stands what it
believes after each attempt. The same seed plays the same attempts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import fill
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle
from matplotlib.transforms import Affine2D
from PIL import Image

import gohr
from gnomon.plot import default_settings
from gnomon.plot.style import INK, MUTED, PAPER, SERIES
from gohr.game import BUCKET_PLACES, DEFAULT_SPEC, Piece
from gohr.learners import Learner, Observation, Transition
from gohr.rules import rule_info
from gohr.run_page import draw_board

RULE = "color-match"
#: A board on which no shape is used up before all is known.
SEED = 23
PICTURE = Path(__file__).parent / "images" / "player.gif"

_GLYPHS = {"STAR": "★", "TRIANGLE": "▲", "SQUARE": "■", "CIRCLE": "●"}
_ACCEPTED, _REFUSED = SERIES[2], SERIES[1]
#: How long a frame stays, in ms; the second of a pair holds once nothing is left to learn.
_LOOK, _READ = (500, 200), (900, 300)
_GLIDE, _END = 60, 6000
_N_COLORS = 128
_DPI = 100


class Belief(NamedTuple):
    """What the learner thinks: how probable it is that a shape may go into a bucket.

    ``chance`` has shape (4, 4), a row a shape of `_GLYPHS`, and NaN for one that was not seen yet;
    ``n_rules`` is the number of rules that agree with all that came of the attempts.
    """

    chance: npt.NDArray[np.float64]
    n_rules: int


class Step(NamedTuple):
    """An attempt on a board, and the belief before and after it."""

    board: npt.NDArray[np.uint8]
    action: int
    accepted: bool
    before: Belief
    after: Belief


class Watched(Learner):
    """The ideal learner, of which every step is kept."""

    def __init__(self, spec: gohr.BoardSpec, *, rng: np.random.Generator) -> None:
        self.steps: list[Step] = []
        self._ideal = gohr.make_learner("ideal", spec, rng=rng)
        self._spec = spec
        self._believed = Belief(np.full((4, 4), np.nan), 0)

    def act(self, observation: Observation) -> int:
        """Act as the ideal learner does, and note what it believes."""
        action = self._ideal.act(observation)
        self._believe(observation.board)
        return action

    def observe(self, transition: Transition) -> None:
        """Keep the step, with the belief that it leads to."""
        self._ideal.observe(transition)
        before, board = self._believed, transition.observation.board
        self._believe(transition.next_observation.board)
        accepted = transition.outcome == 0
        self.steps.append(Step(board, transition.action, accepted, before, self._believed))

    def _believe(self, board: npt.NDArray[np.uint8]) -> None:
        """Average the forecast over the pieces of each shape; one that has none left stays."""
        belief = self._ideal.belief
        accepted = belief.forecast().accepted.reshape(36, 4)
        chance = self._believed.chance.copy()
        shape_of = (board.astype(int) - 1) // len(self._spec.color_palette)
        for row, name in enumerate(_GLYPHS):
            if name in self._spec.shape_palette:
                here = (board > 0) & (shape_of == self._spec.shape_palette.index(name))
                if here.any():
                    chance[row] = accepted[here].mean(axis=0)
        self._believed = Belief(chance, len(belief.alive))


def play(spec: gohr.BoardSpec = DEFAULT_SPEC, seed: int = SEED) -> list[Step]:
    """Let the ideal learner play one board of the rule, and return its steps."""
    rng = np.random.default_rng(seed)
    player = Watched(spec, rng=rng)
    boards = gohr.draw_boards(1, spec, rng=rng)
    gohr.play(boards, player, gohr.load_rule(RULE), board_spec=spec)
    return player.steps


def frames(
    steps: Sequence[Step], spec: gohr.BoardSpec = DEFAULT_SPEC
) -> Iterator[tuple[Image.Image, int]]:
    """Yield the pictures of a game, each with the time that it stays in ms."""
    first, last = steps[0], steps[-1]
    question = "Which piece may go into which bucket?"
    yield _picture(_Scene(first.board, first.before, question), spec), 2 * _READ[0]
    for number, step in enumerate(steps, start=1):
        known = step.before.n_rules == last.after.n_rules
        piece = _moved(step, spec)
        said = f"Attempt {number}: {_GLYPHS[piece.shape or '']} into bucket {step.action % 4}"
        scene = _Scene(step.board, step.before, said, step.action)
        yield _picture(scene, spec), _LOOK[known]
        for way in (0.25, 0.5, 0.75):
            yield _picture(scene._replace(way=way), spec), _GLIDE
        ended = scene._replace(belief=step.after, accepted=step.accepted, way=1.0)
        yield _picture(ended, spec), _READ[known]
        if not step.accepted:
            yield _picture(ended._replace(way=0.0), spec), _GLIDE
    n_errors = sum(not step.accepted for step in steps)
    found = f"Cleared: {len(steps)} attempts, {n_errors} of them refused"
    empty = np.zeros_like(last.board)
    yield _picture(_Scene(empty, last.after, found, rule=_rule_in_words()), spec), _END


def save(path: Path, pictures: Iterator[tuple[Image.Image, int]]) -> Path:
    """Write an animation that goes on for ever; all its frames share one palette."""
    images, times = zip(*pictures, strict=True)
    width, height = images[0].size
    shown = Image.new("RGB", (width, height * len(images)))
    for place, image in enumerate(images):
        shown.paste(image, (0, place * height))
    # A method that keeps the colours of small areas too, such as a single yellow piece.
    palette = shown.quantize(_N_COLORS, method=Image.Quantize.FASTOCTREE)
    few = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    path.parent.mkdir(parents=True, exist_ok=True)
    few[0].save(path, save_all=True, append_images=few[1:], duration=list(times), loop=0)
    return path


class _Scene(NamedTuple):
    """What one frame shows; ``way`` is how far the piece has come, from its cell to the bucket."""

    board: npt.NDArray[np.uint8]
    belief: Belief
    said: str
    action: int | None = None
    accepted: bool | None = None
    way: float = 0.0
    rule: str = ""


def _rule_in_words() -> str:
    """Return the sentence of the rule, without the remark that follows it."""
    sentence = rule_info(RULE).sentence.partition(";")[0]
    return f"{sentence[0].lower()}{sentence[1:]}."


def _moved(step: Step, spec: gohr.BoardSpec) -> Piece:
    pieces = gohr.Board.from_codes(step.board.tolist(), spec).pieces
    return next(piece for piece in pieces if piece.pos == step.action // 4 + 1)


def _picture(scene: _Scene, spec: gohr.BoardSpec) -> Image.Image:
    with default_settings():
        drawing = Figure(figsize=(9, 4.9), facecolor=PAPER, dpi=_DPI)
        canvas = FigureCanvasAgg(drawing)
        _draw_game(drawing.add_axes((0.005, 0.01, 0.53, 0.98)), scene, spec)
        _draw_belief(drawing.add_axes((0.56, 0.01, 0.43, 0.98)), scene)
        canvas.draw()
        return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")


def _draw_game(ax: Axes, scene: _Scene, spec: gohr.BoardSpec) -> None:
    """Draw the board, and the piece that is on its way."""
    draw_board(scene.board, spec=spec, numbers=False, ax=ax)
    if scene.rule:
        ax.text(3.5, 3.5, "cleared", ha="center", va="center", fontsize=22, color=MUTED)
    if scene.action is None:
        return
    cell, bucket = divmod(scene.action, 4)
    x, y = cell % 6 + 1, cell // 6 + 1
    to_y, to_x = BUCKET_PLACES[bucket]
    # A refused piece stops short, so that the bucket's mark does not hide it.
    way = scene.way if scene.accepted is not False else 0.8 * scene.way
    dx, dy = way * (to_x - x), way * (to_y - y)
    prefix = f"piece-{cell + 1}-"
    for patch in list(ax.patches):
        if (patch.get_gid() or "").startswith(prefix):
            if scene.accepted:
                patch.remove()
            else:
                patch.set_transform(Affine2D().translate(dx, dy) + ax.transData)
                patch.set_zorder(5)
    corner = x - 0.46, y - 0.46
    ax.add_patch(Rectangle(corner, 0.92, 0.92, fill=False, edgecolor=INK, linewidth=1.8))
    if scene.accepted is None and scene.way == 0:
        style = {"arrowstyle": "-|>", "color": INK, "linestyle": (0, (4, 3)), "linewidth": 1.5}
        ax.annotate("", (to_x, to_y), (x, y), arrowprops={**style, "shrinkA": 16, "shrinkB": 15})
    if scene.accepted is not None:
        color = _ACCEPTED if scene.accepted else _REFUSED
        ax.add_patch(Circle((to_x, to_y), 0.46, facecolor=color, edgecolor=INK, zorder=6))
        style = {"ha": "center", "va": "center_baseline", "fontweight": "bold", "zorder": 7}
        mark = "✓" if scene.accepted else "✕"
        ax.text(to_x, to_y, mark, fontsize=20, color=PAPER, **style)


def _draw_belief(ax: Axes, scene: _Scene) -> None:
    """Write what happens, and draw a table of what may go where, as the learner sees it."""
    ax.set_xlim(0, 10)
    ax.set_ylim(0, 11.4)
    ax.axis("off")
    ax.text(0, 10.6, scene.said, fontsize=11, color=INK, fontweight="bold", va="center")
    if scene.accepted is not None:
        color, word = (_ACCEPTED, "✓ accepted") if scene.accepted else (_REFUSED, "✕ refused")
        ax.text(0, 9.8, word, fontsize=11, color=color, fontweight="bold", va="center")
    ax.text(0, 8.5, "What the player believes:", fontsize=10.5, color=INK, va="center")
    ax.text(0, 7.9, "may it go into bucket ...", fontsize=9, color=MUTED, va="center")
    for bucket in range(4):
        ax.text(2.3 + 2 * bucket, 7.1, str(bucket), fontsize=11, color=MUTED, ha="center")
    for row, glyph in enumerate(_GLYPHS.values()):
        y = 6.2 - 1.25 * row
        ax.text(0.5, y, glyph, fontsize=17, color=INK, ha="center", va="center")
        for bucket in range(4):
            _draw_chance(ax, 2.3 + 2 * bucket, y, scene.belief.chance[row, bucket])
    ax.text(0, 1.2, fill(_left(scene), 44), fontsize=10.5, color=INK, va="top")


def _left(scene: _Scene) -> str:
    """Say how many rules are left, and at the end which one it was."""
    if scene.rule:
        return f"The rule: {scene.rule}"
    n = scene.belief.n_rules
    agree = ", and agree" if n > 1 and np.all(_certain(scene.belief.chance)) else ""
    return f"{n:,} rule{'s are' if n > 1 else ' is'} possible{agree}"


def _certain(chance: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Return where a probability is 0 or 1, but for what the print would not show."""
    return np.abs(np.asarray(chance) - 0.5) > 0.495


def _draw_chance(ax: Axes, x: float, y: float, chance: float) -> None:
    """Draw a probability as a bar with its number; a tick and a cross where it is certain."""
    ax.add_patch(Rectangle((x - 0.8, y - 0.5), 1.6, 1.0, facecolor="#eff2f6", edgecolor="none"))
    if np.isnan(chance):
        return
    ax.add_patch(Rectangle((x - 0.8, y - 0.5), 1.6 * chance, 1.0, facecolor="#9ec5e3"))
    sure = bool(_certain(chance))
    text = f"{100 * chance:.0f} %" if not sure else "✓" if chance > 0.5 else "✕"
    style = {"ha": "center", "va": "center_baseline", "color": INK}
    ax.text(x, y, text, fontsize=11 if sure else 9.5, **style)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if sys.argv[1:] else PICTURE
    print(save(target, frames(play())).stat().st_size)
