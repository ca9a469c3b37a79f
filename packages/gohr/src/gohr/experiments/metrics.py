"""From attempts to numbers: each score of a trial with its unit and its direction.

An *error* is an attempt that was not accepted: denied, on an immovable piece, or on an empty cell.
The logs of the captive game server leave attempts on empty cells out; ``count_empty=False`` does
likewise, and the table of scores records the choice. Attempts after the end of an episode, which a
learner makes that plays on until the horizon, are neither attempts nor errors.

An episode is *finished* when its board is cleared or stuck (a stalemate); else the horizon cut it
off. A rule is *learned* at the first ten finished episodes in a row without an error. A stalemate
counts as finished there too: no player can make a move that the rule does not permit.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gnomon.errors import UnknownNameError
from gohr.board import DEFAULT_SPEC, BoardSpec
from gohr.outcomes import ACCEPTED, EMPTY_CELL, EPISODE_OVER, IN_PROGRESS
from gohr.people.mastery import attempts_to_master

if TYPE_CHECKING:
    from gnomon import ScoreTable
    from gohr.playing import TrialLog
    from gohr.rules.syntax import RuleSet

#: Number of finished, error-free episodes in a row after which a rule counts as learned.
STREAK = 10

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Errors = npt.NDArray[np.int64] | npt.NDArray[np.int32]
Finish = npt.NDArray[np.int8]


class Episodes(NamedTuple):
    """The errors in each episode of a trial, and how each ended; both of shape (episodes,).

    Most scores need only these data. So the row of each trial that is done has them, some two bytes
    an episode, and no attempt need be read.
    """

    errors: Errors
    finish: Finish


def counted_attempts(log: TrialLog, *, count_empty: bool = True) -> Bools:
    """Return which rows of a log are attempts of the player that count."""
    counted: Bools = log.outcomes != EPISODE_OVER
    return counted if count_empty else counted & (log.outcomes != EMPTY_CELL)


def episode_errors(log: TrialLog, *, count_empty: bool = True) -> Errors:
    """Return the number of errors in each episode of a trial.

    Parameters
    ----------
    log : TrialLog
        The attempts.
    count_empty : bool
        Whether an attempt on an empty cell is an error; if not, it is left out.

    Returns
    -------
    numpy.ndarray of int64, shape (episodes,)

    Examples
    --------
    >>> import gohr
    >>> learner = gohr.make_learner("uniform", gohr.BoardSpec())
    >>> log = gohr.play(gohr.draw_boards(3), learner, gohr.load_rule("anything-goes"))
    >>> episode_errors(log)
    array([0, 0, 0])
    """
    wrong = counted_attempts(log, count_empty=count_empty) & (log.outcomes != ACCEPTED)
    episode = np.repeat(np.arange(log.n_attempts.size), log.n_attempts)
    return np.bincount(episode[wrong], minlength=log.n_attempts.size).astype(np.int64)


def episode_bytes(log: TrialLog) -> bytes:
    """Return the episodes of a trial as its row has them: all errors, those on pieces, the ends."""
    rows = (episode_errors(log), episode_errors(log, count_empty=False), log.finish)
    # To search for longer repetitions takes three times as long, and saves nothing here.
    return zlib.compress(np.array(rows, dtype="<i4").tobytes(), level=1)


def stored_episodes(data: bytes, *, count_empty: bool = True) -> Episodes:
    """Return the episodes of a trial from the result of :func:`episode_bytes`."""
    stored = np.frombuffer(zlib.decompress(data), dtype="<i4").reshape(3, -1)
    # Copies, since a view would keep all three rows.
    return Episodes(stored[0 if count_empty else 1].astype(np.int32), stored[2].astype(np.int8))


class PlayedTrial(NamedTuple):
    """A trial with its rule, for the scores that look at every attempt."""

    log: TrialLog
    rule_set: RuleSet
    board_spec: BoardSpec
    count_empty: bool

    @property
    def counted(self) -> Bools:
        """Which rows are attempts that count."""
        return counted_attempts(self.log, count_empty=self.count_empty)

    @property
    def accepted(self) -> Bools:
        """Whether each attempt that counts was a success."""
        return np.asarray(self.log.outcomes[self.counted] == ACCEPTED)


@dataclass(frozen=True, slots=True)
class Metric:
    """A number, or one number an episode, that sums up a trial.

    ``compute`` returns the number or numbers, infinite where a trial never got there: such a score
    is censored. It takes the errors in each episode and the way each ended; with ``of_attempts``
    the :class:`PlayedTrial`. With ``per_episode`` the step of a number is the number of episodes
    played.
    """

    name: str
    unit: str
    compute: Callable[..., Any]
    higher_is_better: bool = False
    per_episode: bool = False
    of_attempts: bool = False

    def table(
        self,
        columns: Mapping[str, Sequence[object]],
        values: Iterable[float | Floats],
        provenance: Sequence[str],
    ) -> ScoreTable:
        """Return the scores of trials as a table, with a row for each trial or each episode of it.

        ``columns`` (``algorithm``, ``task``, ``run`` and attributes) and ``values``, the results of
        `compute`, have an entry for each trial. A score per episode has the column ``step``, from
        1; where a score is infinite, there is a column ``censored``.
        """
        from gnomon import ScoreTable

        scores = [np.atleast_1d(value) for value in values]
        lengths = [len(each) for each in scores]
        rows: dict[str, npt.NDArray[Any]] = {
            name: np.repeat(np.array(column, dtype=object), lengths)
            for name, column in columns.items()
        }
        rows["score"] = np.concatenate([np.empty(0), *scores])
        if self.per_episode:
            rows["step"] = np.concatenate([np.arange(1, n + 1) for n in [0, *lengths]])
        if np.isinf(rows["score"]).any():
            rows["censored"] = np.isinf(rows["score"])
        return ScoreTable(
            rows,
            metric=self.name,
            unit=self.unit,
            higher_is_better=self.higher_is_better,
            provenance=tuple(provenance),
        )


def _episodes_to_learn(errors: Errors, finish: Finish) -> float:
    """Return the number of episodes before the first streak; infinite if there is none."""
    return attempts_to_master((errors == 0) & (finish != IN_PROGRESS), target=STREAK)


def _errors_to_learn(errors: Errors, finish: Finish) -> float:
    start = _episodes_to_learn(errors, finish)
    return float(errors[: int(start)].sum()) if math.isfinite(start) else start


def _skill(trial: PlayedTrial) -> float:
    """Return g of the model P(success) = p0 + (1 - p0) g; NaN where chance could not fail."""
    from gohr.learners.fixed_players import chance_of_success

    chances = chance_of_success(trial.rule_set, trial.log, board_spec=trial.board_spec)
    expected = float((1 - chances[trial.counted]).sum())
    return 1 - float((~trial.accepted).sum()) / expected if expected > 0 else math.nan


#: Every score of a trial, by name.
METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        metric.name: metric
        for metric in (
            # The terminal cumulated error: all errors of the trial.
            Metric("tce", "errors", lambda errors, _: float(errors.sum())),
            # Before the first ten finished episodes in a row without an error.
            Metric("errors_to_learn", "errors", _errors_to_learn),
            Metric("episodes_to_learn", "episodes", _episodes_to_learn),
            # 1 if there were ten such episodes, else 0.
            Metric(
                "learned",
                "fraction",
                lambda *trial: float(math.isfinite(_episodes_to_learn(*trial))),
                higher_is_better=True,
            ),
            Metric(
                "errors_per_episode", "errors", lambda errors, _: errors * 1.0, per_episode=True
            ),
            Metric(
                "cumulated_errors",
                "errors",
                lambda errors, _: np.cumsum(errors) * 1.0,
                per_episode=True,
            ),
            # Attempts before the first ten successes in a row.
            Metric(
                "m_star",
                "attempts",
                lambda trial: attempts_to_master(trial.accepted),
                of_attempts=True,
            ),
            # Success, corrected for that of a random player: 1 less the ratio of errors to those
            # expected.
            Metric("skill", "fraction", _skill, higher_is_better=True, of_attempts=True),
        )
    }
)


def metric_named(name: str) -> Metric:
    """Return one of `METRICS`; UnknownNameError with the nearest names."""
    if name not in METRICS:
        raise UnknownNameError("metric", name, METRICS)
    return METRICS[name]


def score_trial(
    log: TrialLog,
    metric: str = "tce",
    *,
    count_empty: bool = True,
    rule_set: RuleSet | None = None,
    board_spec: BoardSpec = DEFAULT_SPEC,
) -> float | Floats:
    """Return a score of one trial.

    Parameters
    ----------
    log : TrialLog
        The attempts.
    metric : str
        One of `METRICS`.
    count_empty : bool
        As in :func:`episode_errors`.
    rule_set, board_spec : RuleSet, BoardSpec
        The trial's rule and boards, for a metric of attempts.

    Returns
    -------
    float or numpy.ndarray of float, shape (episodes,)
        One number, or one per episode. Infinite if the trial never got there.

    Raises
    ------
    UnknownNameError
        With the nearest names.
    ValueError
        If the metric needs the rule, and it is not given.

    Examples
    --------
    >>> import gohr
    >>> learner = gohr.make_learner("uniform", gohr.BoardSpec())
    >>> log = gohr.play(gohr.draw_boards(3), learner, gohr.load_rule("anything-goes"))
    >>> score_trial(log, "tce")
    0.0
    """
    chosen = metric_named(metric)
    value: float | Floats
    if not chosen.of_attempts:
        value = chosen.compute(episode_errors(log, count_empty=count_empty), log.finish)
    elif rule_set is None:
        raise ValueError(f"{metric}: expected the rule that the trial was played on")
    else:
        value = chosen.compute(PlayedTrial(log, rule_set, board_spec, count_empty))
    return value
