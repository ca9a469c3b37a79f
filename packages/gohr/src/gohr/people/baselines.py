"""Learners to compare with a person: their errors on the same rule, board by board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gohr.experiments.metrics import episode_errors
from gohr.learners import make_learner
from gohr.people.series import Game
from gohr.playing import play
from gohr.rules.parser import parse

#: Learners compared with people, by their names for people: a kind of learner, and its settings.
_BASELINES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "chance": ("uniform", {}),
    "frugal": ("frugal", {}),
    "table": ("tabular_q", {}),
    "network": ("linear_dqn", {"actions": "occupied"}),
}


@dataclass(frozen=True, slots=True)
class Yardstick:
    """The errors of a learner after each board: half of its trials lie between low and high.

    Parameters
    ----------
    name, kind : str
        Its name and kind; no kind for a submitted learner.
    median, low, high : tuple of float
        Errors so far, after board 1, 2, ...: the median of the trials and their quartiles.
    n_trials : int
    entry_id : int or None
        Its place on the leaderboard, if any.

    Examples
    --------
    >>> Yardstick.of("chance", "uniform", [[4, 6], [2, 9], [3, 3]]).median
    (3.0, 6.0)
    """

    name: str
    kind: str
    median: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    n_trials: int
    entry_id: int | None = None

    @classmethod
    def of(
        cls, name: str, kind: str, curves: Sequence[npt.ArrayLike], entry_id: int | None = None
    ) -> Yardstick:
        """Return median and quartiles of the curves of a learner, one a trial."""
        quartiles = np.quantile(np.array(curves, dtype=np.float64), [0.5, 0.25, 0.75], axis=0)
        median, low, high = map(tuple, quartiles.tolist())
        return cls(name, kind, median, low, high, len(curves), entry_id)


@lru_cache(maxsize=256)
def baseline_curves(game: Game, n_trials: int = 21) -> tuple[Yardstick, ...]:
    """Let learners play a game repeatedly, on boards drawn like those of a person.

    Parameters
    ----------
    game : Game
        Its seed decides the boards and every draw, so that the answer is always the same; nothing
        but the numbers of errors comes of it.
    n_trials : int
        Times that each learner plays.

    Examples
    --------
    >>> found = baseline_curves(Game("any", "(*,*,*,*,*)", seed=0, episodes=3), 3)
    >>> found[0].name, found[0].median
    ('chance', (0.0, 0.0, 0.0))
    """
    rule_set, found = parse(game.rule_text), []
    for name, (kind, settings) in _BASELINES.items():
        curves = []
        for trial in range(n_trials):
            boards = replace(game, seed=game.seed + trial).boards()
            rng = np.random.default_rng([game.seed, trial])
            learner = make_learner(kind, game.board, rng=rng, **settings)
            log = play(boards, learner, rule_set, horizon=game.horizon, board_spec=game.board)
            curves.append(np.cumsum(episode_errors(log)))
        found.append(Yardstick.of(name, kind, curves))
    return tuple(found)
