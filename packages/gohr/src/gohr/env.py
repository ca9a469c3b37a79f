"""The game as a Gymnasium environment: one board, one attempt a step.

Its observation and action spaces are those of the vector environment too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from gnomon.errors import check_word
from gohr.board import N_BUCKETS, N_CELLS, Board, BoardSpec, board_spec, draw_boards
from gohr.drawing import board_pixels, board_text
from gohr.engine.program import STANDS
from gohr.outcomes import EMPTY_CELL, RESET, STALEMATE
from gohr.rules.catalogue import resolve_rule
from gohr.rules.syntax import RuleSet

#: State of the board before the first reset: every attempt is passed to the engine.
_NOT_DEALT = -1

#: Internal action for a new board, so that no action of a player has this effect.
_DEAL = object()
_ACTIONS: dict[object, int] = {**{a: a for a in range(N_CELLS * N_BUCKETS)}, _DEAL: RESET}

#: Boards drawn ahead at a time: a call to the kernel that draws costs as much as thirty boards.
_BLOCK = 64


class HiddenRulesEnv(gymnasium.Env[dict[str, Any], np.int64]):
    """Clear a board by moving pieces into buckets, under a rule that is not shown.

    An episode begins with a random board. Each step attempts to move the piece of one cell into one
    bucket. The rule accepts the attempt, and the piece is removed, or it does not, and nothing
    changes. The environment is registered as ``gohr/HiddenRules-v0``, and once for each sample
    rule (``gohr/Clockwise-v0``, ...), with a horizon of 100 attempts after which an episode is
    truncated.

    *Observation*, a Dict: ``board``, 36 codes of the contents of each cell from the bottom left (0
    nothing, else ``1 + shape * n_colors + color``); ``shape``, ``color`` and ``bucket`` of the last
    accepted attempt of the episode, each 0 for none and else 1 + index.

    *Action*: ``4 * cell + bucket``, cells from 0 at the bottom left, buckets clockwise from 0 at
    the top left.

    *Reward*: 0 for an accepted attempt, else -1; an attempt on an empty cell is allowed and costs
    -1 too.

    *Termination*: the board is cleared, or the rule lets no piece move any more (a stalemate, which
    counts as finished). A board may be dealt that is stuck from the start: ``info["stalemate"]`` is
    set, and the first step terminates with reward 0.

    *Info*: ``action_mask``, int8 of shape (144,), 1 for the attempts on occupied cells (never what
    the rule permits); ``outcome`` of the attempt (0 accepted, 4 denied here, 7 immovable, 3 empty
    cell, 6 a new board, -4 the episode is over); ``stalemate``. With ``reveal`` also ``permitted``,
    likewise, 1 for the attempts that the rule would accept.

    Parameters
    ----------
    rule : str or RuleSet
        A name of the library, a rule file, or a parsed rule.
    board : BoardSpec or mapping, optional
        How boards are drawn; a mapping gives the fields of a
        :class:`~gohr.board.BoardSpec`.
    reveal : bool
        Show in ``info`` what the rule permits, for reference players and debugging;
        ``metadata["reveal"]`` records it.
    render_mode : {'ansi', 'rgb_array'}, optional
        Return value of :meth:`render`.

    Raises
    ------
    UnknownNameError, RuleSyntaxError
        If the rule does not exist or does not parse.
    RuleError
        If the rule cannot be played, or is too large.

    Examples
    --------
    >>> import gymnasium, gohr
    >>> env = gymnasium.make("gohr/Clockwise-v0")
    >>> observation, info = env.reset(seed=0)
    >>> action = env.action_space.sample(info["action_mask"])
    >>> observation, reward, terminated, truncated, info = env.step(action)
    >>> reward, info["outcome"]
    (0.0, 0)
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - Gymnasium's own attribute, replaced by __init__
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": 4,
    }

    def __init__(
        self,
        rule: str | RuleSet = "color-match",
        board: BoardLike = None,
        *,
        reveal: bool = False,
        render_mode: str | None = None,
    ) -> None:
        if render_mode is not None:
            check_word("render_mode", render_mode, self.metadata["render_modes"])
        self.board_spec = board_spec(board)
        self.rule = resolve_rule(rule)
        self.reveal = reveal
        self.render_mode = render_mode
        self.metadata = {**type(self).metadata, "reveal": reveal}
        self.observation_space = observation_space(self.board_spec)
        self.action_space: spaces.Discrete = action_space()

        self._deck = np.zeros((1, N_CELLS), dtype=np.uint8)
        from gohr.engine.boards import Boards

        self._boards = Boards.empty(self.rule, 1, self.board_spec)
        advance = self._boards.bound_step(self._deck)
        codes = self._boards.seen[0, :N_CELLS]
        self._occupied = self._boards.seen[0, N_CELLS:].view(np.int8)
        # Reading numbers from a memoryview takes a third of the time it takes from an array.
        replies = memoryview(self._boards.replies[:, 0].data)[: STANDS + 1]
        replies[STANDS] = _NOT_DEALT
        occupied = memoryview(self._occupied.data)
        # The functions called in every step, bound once and fetched by one look-up.
        copies = (codes.copy, self._occupied.copy)
        self._ready = (replies, occupied, advance, replies.tolist, *copies, reveal)
        refuse: Callable[[], object] = _refuse_step
        self._bound = (replies, occupied, refuse, *self._ready[3:])
        self._last = (0, 0, 0)
        self._ahead: npt.NDArray[np.uint8] = np.empty((0, N_CELLS), dtype=np.uint8)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode on a new board.

        Parameters
        ----------
        seed : int, optional
            Restart the sequence of boards from this seed.
        options : dict, optional
            ``{"board": ...}`` plays a board of your own, a :class:`~gohr.board.Board` or 36
            codes, and leaves the environment's own sequence of boards as it is.
        """
        super().reset(seed=seed)
        if seed is not None:
            self._ahead = self._ahead[:0]
        self._deck[0] = self._next_board(options or {})
        self._bound = self._ready
        self._bound[0][STANDS] = _NOT_DEALT
        observation, _, _, _, info = self.step(_DEAL)
        return observation, info

    def _next_board(self, options: dict[str, Any]) -> npt.NDArray[np.uint8]:
        """Return the board requested by the options, or the next of the sequence."""
        unknown = sorted(set(options) - {"board"})
        if unknown:
            raise ValueError(f"options: expected 'board', found {unknown[0]!r}")
        if options.get("board") is not None:
            return board_codes(options["board"], self.board_spec)
        if not len(self._ahead):
            self._ahead = draw_boards(_BLOCK, self.board_spec, rng=self.np_random)
        (board,), self._ahead = self._ahead[:1], self._ahead[1:]
        return cast(npt.NDArray[np.uint8], board)

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Attempt to move the piece of cell ``action // 4`` into bucket ``action % 4``."""
        replies, occupied, advance, read_replies, copy_board, copy_mask, reveal = self._bound
        try:
            number = _ACTIONS[action]
        except (KeyError, TypeError):
            raise ValueError(
                f"action: expected an integer from 0 to 143, found {action!r}"
            ) from None
        if occupied[number] or replies[STANDS]:
            replies[0] = number
            advance()
            _, shape, color, bucket, outcome, error, terminated, _, stands = read_replies()
            self._last = shape, color, bucket
            reward, over, stalemate = -1.0 if error else 0.0, terminated == 1, stands == STALEMATE
        else:
            # While an episode is going on, an attempt on an empty cell changes nothing. Three in
            # four uniform attempts are of this kind and need no call of the engine.
            shape, color, bucket = self._last
            outcome, reward, over, stalemate = EMPTY_CELL, -1.0, False, False
        info = {"action_mask": copy_mask(), "outcome": outcome, "stalemate": stalemate}
        if reveal:
            (info["permitted"],) = self._boards.permitted()
        observation = {"board": copy_board(), "shape": shape, "color": color, "bucket": bucket}
        return observation, reward, over, False, info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return which attempts are on occupied cells, bool of shape (144,).

        The name is the one that sb3-contrib's MaskablePPO looks for.
        """
        mask: npt.NDArray[np.bool_] = self._occupied.astype(np.bool_)
        return mask

    def render(self) -> Any:
        """Return the board as text, or as a picture of shape (height, width, 3), dtype uint8."""
        if self._bound is not self._ready:
            raise ResetNeeded("Cannot call env.render() before calling env.reset()")
        if self.render_mode is None:
            return None
        draw = board_text if self.render_mode == "ansi" else board_pixels
        return draw(self._boards.codes[0], self.board_spec)


def _refuse_step() -> None:
    raise ResetNeeded("Cannot call env.step() before calling env.reset()")


#: A board spec, or its fields by name.
BoardLike: TypeAlias = BoardSpec | Mapping[str, Any] | None


class _Attempts(spaces.Discrete):
    """The 144 attempts, of which Gymnasium takes five steps' time to draw one of a mask."""

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        """Return a random attempt: of all, of those in a mask, or by given probabilities."""
        possible = ()
        if probability is None and getattr(mask, "dtype", None) == np.int8 and mask.shape == (144,):
            (possible,) = mask.nonzero()
        if len(possible):
            return np.int64(possible[int(self.np_random.random() * len(possible))])
        return super().sample(mask, probability)


def action_space() -> spaces.Discrete:
    """Return the 144 attempts: ``4 * cell + bucket``, cells from 0 at the bottom left."""
    return _Attempts(N_CELLS * N_BUCKETS)


def observation_space(spec: BoardSpec) -> spaces.Dict:
    """Return the board's 36 codes and the last accepted attempt, each 0 for none."""
    return spaces.Dict(
        {
            "board": spaces.MultiDiscrete([spec.n_codes] * N_CELLS, dtype=np.uint8),
            "shape": spaces.Discrete(1 + len(spec.shape_palette)),
            "color": spaces.Discrete(1 + len(spec.color_palette)),
            "bucket": spaces.Discrete(1 + N_BUCKETS),
        }
    )


def board_codes(board: Any, spec: BoardSpec) -> npt.NDArray[np.uint8]:
    """Return a board given as a :class:`Board` or as 36 codes, checked, as 36 codes."""
    if isinstance(board, Board):
        return board.codes(spec)
    codes = np.asarray(board)
    is_row = codes.shape == (N_CELLS,) and codes.dtype.kind in "iu"
    if not is_row or not ((codes >= 0) & (codes < spec.n_codes)).all():
        raise ValueError(f"board: expected 36 codes from 0 to {spec.n_codes - 1}, found {board!r}")
    return codes.astype(np.uint8)
