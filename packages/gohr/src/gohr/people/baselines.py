"""Baseline learners to compare with a person: error curves on the same rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from gohr.experiments.metrics import episode_errors
from gohr.learners import make_learner
from gohr.people.board_dealing import boards_of
from gohr.people.play_records import Game
from gohr.playing import play
from gohr.rules.parser import parse

#: Description of each of them.
LABELS = {
    "chance": "tries any piece and any bucket, and remembers nothing",
    "frugal": "never repeats a failed attempt, and learns nothing",
    "table": "keeps a table of what was accepted (tabular Q-learning)",
    "network": "the linear deep Q-network of the paper on the game",
}
#: Learners compared with people: a kind of learner, and its settings.
BASELINES: Mapping[str, tuple[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "chance": ("uniform", {}),
        "frugal": ("frugal", {}),
        "table": ("tabular_q", {}),
        "network": ("linear_dqn", {"actions": "occupied"}),
    }
)

_TRIALS = 21


@dataclass(frozen=True, slots=True)
class Yardstick:
    """The errors of a learner after each board: half of its trials lie between low and high.

    Parameters
    ----------
    name, kind, sentence : str
        Its name, kind and description for people; no kind for a submitted learner.
    median, low, high : tuple of float
        Errors so far, after board 1, 2, ...: the median of the trials and their quartiles.
    n_trials : int
    entry_id : int or None
        Its place on the leaderboard, if any.

    Examples
    --------
    >>> Yardstick.of("chance", "uniform", "tries anything", [[4, 6], [2, 9], [3, 3]]).median
    (3.0, 6.0)
    """

    name: str
    kind: str
    sentence: str
    median: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    n_trials: int
    entry_id: int | None = None

    @classmethod
    def of(
        cls,
        name: str,
        kind: str,
        sentence: str,
        curves: Sequence[npt.ArrayLike],
        entry_id: int | None = None,
    ) -> Yardstick:
        """Return median and quartiles of the curves of a learner, one a trial."""
        quartiles = np.quantile(np.array(curves, dtype=np.float64), [0.5, 0.25, 0.75], axis=0)
        median, low, high = map(tuple, quartiles.tolist())
        return cls(name, kind, sentence, median, low, high, len(curves), entry_id)


@lru_cache(maxsize=256)
def baseline_curves(game: Game, n_trials: int = _TRIALS) -> tuple[Yardstick, ...]:
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
    return tuple(_yardstick(name, game, n_trials) for name in BASELINES)


def _yardstick(name: str, game: Game, n_trials: int) -> Yardstick:
    kind, settings = BASELINES[name]
    rule_set = parse(game.rule_text)
    curves = []
    for trial in range(n_trials):
        boards = boards_of(replace(game, seed=game.seed + trial))
        rng = np.random.default_rng([game.seed, trial])
        learner = make_learner(kind, game.board, rng=rng, **settings)
        log = play(boards, learner, rule_set, horizon=game.horizon, board_spec=game.board)
        curves.append(np.cumsum(episode_errors(log)))
    return Yardstick.of(name, kind, LABELS[name], curves)
