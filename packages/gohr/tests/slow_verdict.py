"""The slow twin of verification: one row at a time, by the reference interpreter, in plain Python.

Only :mod:`gohr.game.reference` says what is right; nothing is taken from verification.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gohr.game import Board, BoardSpec, ReferenceGame
from gohr.rules import RuleSet

__all__ = ["first_wrong_place"]

Row = Mapping[str, Any]
Place = tuple[int | None, int | None]


def first_wrong_place(
    rows: Sequence[Row],
    rule_set: RuleSet,
    boards: Sequence[bytes],
    *,
    horizon: int,
    spec: BoardSpec,
) -> Place | None:
    """Return episode and attempt of the first row that is not as it must be; None if none is."""
    rest = list(rows)
    for episode, board in enumerate(boards):
        if not rest or rest[0]["episode"] != episode:
            return (episode, None) if not rest or _is_new(rest[0], episode) else (0, None)
        if rest[0]["board"] != board:
            return episode, None
        game = ReferenceGame(rule_set, Board.from_codes(board, spec))
        if game.finish:
            row = rest.pop(0)
            if [row[x] for x in ("attempt", "cell", "bucket")] != [None] * 3:
                return episode, 1
            if (row["outcome"], row["finish"]) != (-4, game.finish):
                return episode, 1
            continue
        wrong = _episode(rest, game, episode, horizon)
        if wrong is not None:
            return wrong
    return (len(boards), None) if rest else None


def _is_new(row: Row, episode: int) -> bool:
    return row["episode"] != 0 or episode == 0


def _episode(rest: list[Row], game: ReferenceGame, episode: int, horizon: int) -> Place | None:
    """Take the rows of an episode off the rest, up to one that is wrong."""
    n = 0
    ended_at = None
    while rest and rest[0]["episode"] == episode:
        row = rest.pop(0)
        if n and row["board"] is not None:
            return episode, n + 1
        n += 1
        here = (episode, n)
        if row["attempt"] != n or n > horizon:
            return here
        if row["cell"] not in range(1, 37) or row["bucket"] not in range(4):
            return here
        if row["outcome"] != game.attempt_at(row["cell"], row["bucket"]):
            return here
        if row["finish"] != game.finish:
            return here
        if game.finish and ended_at is None:
            ended_at = n
    if ended_at is None and n < horizon:
        return episode, n + 1
    if ended_at is not None and ended_at < n < horizon:
        return episode, ended_at + 1
    return None
