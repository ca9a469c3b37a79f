"""From attempts to numbers: each score with its unit and its direction.

An *error* is an attempt that was not accepted: denied, on an immovable piece, or on an empty cell.
The logs of the captive game server leave attempts on empty cells out; ``count_empty=False`` does
likewise, and the table of scores says which was done. Attempts after the end of an episode, which a
learner makes that plays on until the horizon, are neither attempts nor errors.

An episode is *finished* when its board is cleared or stuck (a stalemate); else the horizon cut it
off. A rule is *learned* at the first ten finished episodes in a row without an error. A stalemate
counts as finished there too: what the rule no longer permits to anyone, it cannot ask of a learner.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from gnomon.errors import UnknownNameError
from gnomon.experiments.scoring.attempt_scores import ATTEMPT_METRICS, AttemptMetric, TrialAttempts
from gnomon.game.board import DEFAULT_SPEC, BoardSpec
from gnomon.game.outcomes import ACCEPTED, EMPTY_CELL, EPISODE_OVER, IN_PROGRESS

if TYPE_CHECKING:
    import polars as pl

    from gnomon.experiments.folder.journal import TrialRecord
    from gnomon.experiments.folder.run_folder import RunFolder
    from gnomon.experiments.shards.shard import TrialOutcomes
    from gnomon.learners.base import TrialLog
    from gnomon.rules.syntax import RuleSet
    from gnomon.scores.table import ScoreTable

__all__ = [
    "ATTEMPT_METRICS",
    "METRICS",
    "STREAK",
    "Episodes",
    "Metric",
    "RunEpisodes",
    "cumulated_errors",
    "episode_errors",
    "run_episodes",
    "score",
    "score_table",
    "score_trial",
]

#: Number of finished, error-free episodes in a row after which a rule counts as learned.
STREAK = 10

Errors = npt.NDArray[np.int64]
Finish = npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Metric:
    """A number, or one number an episode, that sums up a trial.

    Parameters
    ----------
    name, sentence, unit : str
        What it is called, what it says, and in what it is counted.
    higher_is_better : bool
    per_episode : bool
        Whether there is one number after each episode; the step is the number of episodes played.
    compute : callable
        From the errors in each episode and the way each ended, to the number or numbers. Infinite
        where a trial never got there: such a score is censored.

    Examples
    --------
    >>> METRICS["tce"].unit, METRICS["tce"].higher_is_better
    ('errors', False)
    """

    name: str
    sentence: str
    unit: str
    higher_is_better: bool
    per_episode: bool
    compute: Callable[[Errors, Finish], float | npt.NDArray[np.float64]]


def episode_errors(log: TrialLog | TrialOutcomes, *, count_empty: bool = True) -> Errors:
    """Return the number of errors in each episode of a trial.

    Parameters
    ----------
    log : TrialLog or TrialOutcomes
        The attempts.
    count_empty : bool
        Whether an attempt on an empty cell is an error; if not, it is left out.

    Returns
    -------
    numpy.ndarray of int64, shape (episodes,)

    Examples
    --------
    >>> import gnomon as gn
    >>> rng = np.random.default_rng(0)
    >>> learner = gn.make_learner("uniform", gn.BoardSpec(), rng=rng)
    >>> log = gn.play_trial(learner, gn.load_rule("anything-goes"), gn.draw_boards(3, rng=rng))
    >>> episode_errors(log)
    array([0, 0, 0])
    """
    wrong = (log.outcomes != ACCEPTED) & (log.outcomes != EPISODE_OVER)
    if not count_empty:
        wrong &= log.outcomes != EMPTY_CELL
    episode = np.repeat(np.arange(log.n_attempts.size), log.n_attempts)
    return np.bincount(episode[wrong], minlength=log.n_attempts.size).astype(np.int64)


def _streak_start(errors: Errors, finish: Finish) -> int | None:
    """Return the episode with which the first streak begins, from 0; None if there is no streak."""
    length = 0
    for episode, good in enumerate(((errors == 0) & (finish != IN_PROGRESS)).tolist()):
        length = length + 1 if good else 0
        if length == STREAK:
            return episode - STREAK + 1
    return None


def _terminal_errors(errors: Errors, finish: Finish) -> float:
    return float(errors.sum())


def _errors_to_learn(errors: Errors, finish: Finish) -> float:
    start = _streak_start(errors, finish)
    return math.inf if start is None else float(errors[:start].sum())


def _episodes_to_learn(errors: Errors, finish: Finish) -> float:
    start = _streak_start(errors, finish)
    return math.inf if start is None else float(start)


def _learned(errors: Errors, finish: Finish) -> float:
    return float(_streak_start(errors, finish) is not None)


def _each(errors: Errors, finish: Finish) -> npt.NDArray[np.float64]:
    return errors.astype(np.float64)


def _cumulated(errors: Errors, finish: Finish) -> npt.NDArray[np.float64]:
    return np.cumsum(errors).astype(np.float64)


#: Every score of a trial, by name.
METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        metric.name: metric
        for metric in (
            Metric(
                "tce",
                "Terminal cumulated error: all errors of the trial.",
                "errors",
                False,
                False,
                _terminal_errors,
            ),
            Metric(
                "errors_to_learn",
                "Errors before the first ten finished episodes in a row without one.",
                "errors",
                False,
                False,
                _errors_to_learn,
            ),
            Metric(
                "episodes_to_learn",
                "Episodes before the first ten finished episodes in a row without an error.",
                "episodes",
                False,
                False,
                _episodes_to_learn,
            ),
            Metric(
                "learned",
                "1 if there were ten finished episodes in a row without an error, else 0.",
                "fraction",
                True,
                False,
                _learned,
            ),
            Metric("errors_per_episode", "Errors in each episode.", "errors", False, True, _each),
            Metric(
                "cumulated_errors",
                "Errors in all episodes so far.",
                "errors",
                False,
                True,
                _cumulated,
            ),
        )
    }
)


def score_trial(
    log: TrialLog,
    metric: str = "tce",
    *,
    count_empty: bool = True,
    rule_set: RuleSet | None = None,
    board_spec: BoardSpec = DEFAULT_SPEC,
) -> float | npt.NDArray[np.float64]:
    """Return a score of one trial.

    Parameters
    ----------
    log : TrialLog
        The attempts.
    metric : str
        One of `METRICS` or `ATTEMPT_METRICS`.
    count_empty : bool
        As in :func:`episode_errors`.
    rule_set, board_spec : RuleSet, BoardSpec
        What the trial was played on; needed for `ATTEMPT_METRICS` only.

    Returns
    -------
    float or numpy.ndarray of float, shape (episodes,)
        One number, or one an episode. Infinite where the trial never got there.

    Raises
    ------
    UnknownNameError
        With the nearest names.
    ValueError
        If the metric needs the rule, and it is not given.

    Examples
    --------
    >>> import gnomon as gn
    >>> rng = np.random.default_rng(0)
    >>> learner = gn.make_learner("uniform", gn.BoardSpec(), rng=rng)
    >>> log = gn.play_trial(learner, gn.load_rule("anything-goes"), gn.draw_boards(3, rng=rng))
    >>> score_trial(log, "tce")
    0.0
    """
    chosen = _metric(metric)
    if isinstance(chosen, Metric):
        return chosen.compute(episode_errors(log, count_empty=count_empty), log.finish)
    if rule_set is None:
        raise ValueError(f"{metric}: expected the rule that the trial was played on")
    return chosen.compute(TrialAttempts(log, rule_set, board_spec, count_empty))


class Episodes(NamedTuple):
    """The errors in each episode of a trial, and how each ended; both of shape (episodes,)."""

    errors: Errors
    finish: Finish


#: The episodes of each trial that is done, in the order of the experiment.
RunEpisodes = Mapping["TrialRecord", Episodes]


def run_episodes(run_folder: RunFolder, *, count_empty: bool = True) -> RunEpisodes:
    """Return the episodes of every trial that is done, from one pass over the attempts of a run.

    Parameters
    ----------
    run_folder : RunFolder
        The run.
    count_empty : bool
        As in :func:`episode_errors`.

    Returns
    -------
    dict from TrialRecord to Episodes
        Ten bytes an episode, however many attempts were made in it.

    Raises
    ------
    RunFolderError
        If the attempts of a trial cannot be read.
    """
    return {
        record: Episodes(episode_errors(outcomes, count_empty=count_empty), outcomes.finish.copy())
        for record, outcomes in run_folder.outcomes()
    }


def score(
    run: str | os.PathLike[str] | RunFolder, metric: str = "tce", *, count_empty: bool = True
) -> ScoreTable:
    """Return a score of every trial of a run as a table: learners as algorithms, rules as tasks.

    A trial that failed or has not been played is a missing run. A score per episode has the column
    ``step``, the number of episodes played, from 1; a score that is not reached is ``censored``.

    Parameters
    ----------
    run : path, RunFolder or RunSummary
        The run: its folder, or what :func:`gnomon.experiments.run` returned.
    metric : str
        One of `METRICS` or `ATTEMPT_METRICS`.
    count_empty : bool
        As in :func:`episode_errors`; the table's provenance says which was used.

    Raises
    ------
    UnknownNameError
        With the nearest names.
    RunFolderError
        It is no run folder, or the attempts of a trial cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from gnomon.experiments.config.experiment_config import ExperimentConfig
    >>> from gnomon.experiments.runner import run
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=2, episodes=3)
    >>> with tempfile.TemporaryDirectory() as out:
    ...     table = score(run(config, out))
    >>> table.metric, table.unit, table.algorithms, table.tasks, len(table)
    ('tce', 'errors', ('uniform',), ('clockwise',), 2)
    """
    from gnomon.experiments.folder.run_folder import RunFolder

    folder = run if isinstance(run, RunFolder) else RunFolder.open(run)
    return score_table(folder, metric, count_empty=count_empty)


def score_table(
    run_folder: RunFolder,
    metric: str = "tce",
    *,
    count_empty: bool = True,
    episodes: RunEpisodes | None = None,
) -> ScoreTable:
    """Return a score of every trial of an open run; see :func:`score`.

    ``episodes`` are those of :func:`run_episodes` with the same ``count_empty``, if they have been
    read already.

    Examples
    --------
    >>> import tempfile
    >>> import gnomon as gn
    >>> config = gn.ExperimentConfig("tiny", ["color-match"], ["uniform"], trials=3, episodes=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = gn.run(config, folder)
    ...     table = score_table(run.folder)
    >>> table.runs("uniform", "color-match").shape
    (3,)
    """
    from gnomon.scores.table import ScoreTable

    chosen = _metric(metric)
    scores: Mapping[TrialRecord, float | npt.NDArray[np.float64]]
    if isinstance(chosen, AttemptMetric):
        scores = _attempt_scores(run_folder, chosen, count_empty)
    else:
        found = run_episodes(run_folder, count_empty=count_empty) if episodes is None else episodes
        scores = {record: chosen.compute(*trial) for record, trial in found.items()}
    frame = _score_frame(run_folder, scores, per_episode=chosen.per_episode)
    return ScoreTable.from_frame(
        frame,
        metric=metric,
        unit=chosen.unit,
        higher_is_better=chosen.higher_is_better,
        provenance=(f"experiment {run_folder.config.name}", _empty_cells(count_empty)),
    )


def _attempt_scores(
    run_folder: RunFolder, metric: AttemptMetric, count_empty: bool
) -> dict[TrialRecord, float]:
    """Return a score that needs the whole log of each trial, and its rule."""
    board = run_folder.config.board
    rules = {entry.name: entry.rule_set for entry in run_folder.config.rules}
    scores = {}
    for record in run_folder.trials():
        if record.status == "done":
            log = run_folder.log(record)
            attempts = TrialAttempts(log, rules[record.rule], board, count_empty)
            scores[record] = metric.compute(attempts)
    return scores


def _score_frame(
    run_folder: RunFolder,
    scores: Mapping[TrialRecord, float | npt.NDArray[np.float64]],
    *,
    per_episode: bool,
) -> pl.DataFrame:
    """Return a row for each trial of the experiment, or for each episode of those that are done."""
    import polars as pl

    found = {(r.learner, r.rule, r.trial): value for r, value in scores.items()}
    planned = [key for key in _planned(run_folder) if not per_episode or key in found]
    frame = pl.DataFrame(
        {
            "algorithm": [learner for learner, _, _ in planned],
            "task": [rule for _, rule, _ in planned],
            "run": [trial for _, _, trial in planned],
            "score": [found.get(key, math.nan) for key in planned],
        },
        schema_overrides={"score": pl.List(pl.Float64) if per_episode else pl.Float64},
    )
    if per_episode:
        steps = pl.int_ranges(1, pl.col("score").list.len() + 1).alias("step")
        frame = frame.with_columns(steps).explode("score", "step")
    if frame["score"].is_infinite().any():
        frame = frame.with_columns(pl.col("score").is_infinite().alias("censored"))
    return frame


def cumulated_errors(episodes: RunEpisodes) -> dict[tuple[str, str], npt.NDArray[np.float64]]:
    """Return the cumulated errors of every trial that is done, by learner and rule.

    Parameters
    ----------
    episodes : mapping
        From :func:`run_episodes`.

    Returns
    -------
    dict from (learner, rule) to numpy.ndarray of float, shape (trials, episodes)
        In the order of the experiment; a pair without a trial that is done is left out.
    """
    curves: dict[tuple[str, str], list[npt.NDArray[np.float64]]] = {}
    for record, (errors, _) in episodes.items():
        curve = np.cumsum(errors).astype(np.float64)
        curves.setdefault((record.learner, record.rule), []).append(curve)
    return {pair: np.stack(trials) for pair, trials in curves.items()}


def _metric(name: str) -> Metric | AttemptMetric:
    known: dict[str, Metric | AttemptMetric] = {**METRICS, **ATTEMPT_METRICS}
    if name not in known:
        raise UnknownNameError("metric", name, known)
    return known[name]


def _planned(run_folder: RunFolder) -> Iterator[tuple[str, str, int]]:
    """Yield learner, rule and number of every trial of the experiment."""
    config = run_folder.config
    for learner in config.learners:
        for rule in config.rules:
            for trial in range(config.trials):
                yield learner.name, rule.name, trial


def _empty_cells(count_empty: bool) -> str:
    counted = "counted as errors" if count_empty else "left out, as the captive server does"
    return f"attempts on empty cells {counted}"
