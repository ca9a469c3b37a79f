"""The boards of a game: drawn as a trial's are, under a condition, or given."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gnomon.errors import GnomonError
from gohr.game.board import N_CELLS, BoardSpec, draw_boards
from gohr.game.seeded_boards import BoardConditions
from gohr.people.play_records import Game
from gohr.people.series_plan import SeriesTerms
from gohr.rules.parser import parse


def deal_boards(
    spec: BoardSpec, terms: SeriesTerms, n_boards: int, *, seed: int, rule: str
) -> npt.NDArray[np.uint8]:
    """Return the boards of a game, a row of codes each, as the board's palettes have them.

    They follow from the seed and the text of the rule; those drawn without a condition are those of
    trial 0 of an experiment with this seed.

    Raises
    ------
    GnomonError
        No board meets the condition, or it does not parse.

    Examples
    --------
    >>> rule = "(*,*,RED,*,0) (*,*,*,*,1)"
    >>> deal_boards(BoardSpec(pieces=4), SeriesTerms(), 3, seed=1, rule=rule).shape
    (3, 36)
    """
    from gohr.experiments.config.config_entries import RuleEntry

    rng = np.random.default_rng([seed, int(RuleEntry("", rule).hash[:32], 16), 0])
    if terms.given:
        return _given(terms, spec, n_boards, rng)
    if not terms.train and not terms.test:
        return draw_boards(n_boards, spec, rng=rng)
    conditions = BoardConditions(parse(terms.train or terms.test))
    if conditions.zone is not None:
        boards = draw_boards(n_boards, spec, rng=rng)
        place = _into_zone if terms.test else _out_of_zone
        return np.array([place(board, conditions.zone, rng) for board in boards])
    return conditions.draw(n_boards, spec, testing=bool(terms.test), rng=rng)


def boards_of(game: Game) -> npt.NDArray[np.uint8]:
    """Return the boards of a game, a row of codes each."""
    return deal_boards(game.board, game.terms, game.episodes, seed=game.seed, rule=game.rule_text)


def _given(
    terms: SeriesTerms, spec: BoardSpec, n_boards: int, rng: np.random.Generator
) -> npt.NDArray[np.uint8]:
    boards = np.array([board.codes(spec) for board in terms.given_boards()])
    rounds = -(-n_boards // len(boards))
    shuffled = terms.order == "random"
    turns = [
        rng.permutation(len(boards)) if shuffled else np.arange(len(boards)) for _ in range(rounds)
    ]
    return boards[np.concatenate(turns)[:n_boards]]


def _out_of_zone(
    board: npt.NDArray[np.uint8], zone: Sequence[int], rng: np.random.Generator
) -> npt.NDArray[np.uint8]:
    """Lay the pieces of a board on other cells, none of which is of a zone."""
    free = [cell for cell in range(1, N_CELLS + 1) if cell not in zone]
    pieces = board[board > 0]
    if len(pieces) > len(free):
        raise GnomonError(f"expected at most {len(free)} pieces outside the zone: {len(pieces)}")
    moved = np.zeros_like(board)
    moved[rng.choice(free, len(pieces), replace=False) - 1] = pieces
    return moved


def _into_zone(
    board: npt.NDArray[np.uint8], zone: Sequence[int], rng: np.random.Generator
) -> npt.NDArray[np.uint8]:
    """Lay a piece of a board into a zone, unless one is there."""
    inside = np.array(zone) - 1
    if not inside.size or board[inside].any():
        return board
    moved = board.copy()
    taken = rng.choice(np.flatnonzero(board))
    moved[rng.choice(inside)], moved[taken] = board[taken], 0
    return moved
