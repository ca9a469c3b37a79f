"""Scores of a run as a table: learners are algorithms, rules are tasks, trials are runs."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gohr.experiments.scoring.attempt_scores import AttemptMetric, RecordedAttempts, TrialAttempts
from gohr.experiments.scoring.run_episodes import RunEpisodes, run_episodes
from gohr.experiments.scoring.trial_scores import metric_named

if TYPE_CHECKING:
    import polars as pl

    from gnomon import ScoreTable
    from gohr.experiments.run_folder import RunFolder
    from gohr.experiments.store import TrialRecord


def score(
    run: str | os.PathLike[str] | RunFolder, metric: str = "tce", *, count_empty: bool = True
) -> ScoreTable:
    """Return a score of every trial of a run as a table: learners as algorithms, rules as tasks.

    A trial that failed or has not been played is a missing run. A score per episode has the column
    ``step``, the number of episodes played, from 1; a score that is not reached is ``censored``.

    Parameters
    ----------
    run : path, RunFolder or RunSummary
        The run: its folder, or the return value of :func:`gohr.experiments.run`.
    metric : str
        One of `METRICS` or `ATTEMPT_METRICS`.
    count_empty : bool
        As in :func:`episode_errors`; the table's provenance records the choice.

    Raises
    ------
    UnknownNameError
        With the nearest names.
    RunFolderError
        It is not a run folder, or the attempts of a trial cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from gohr.experiments.config.experiment_config import ExperimentConfig
    >>> from gohr.experiments.runner import run
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=2, episodes=3)
    >>> with tempfile.TemporaryDirectory() as out:
    ...     table = score(run(config, out))
    >>> table.metric, table.unit, table.algorithms, table.tasks, len(table)
    ('tce', 'errors', ('uniform',), ('clockwise',), 2)
    """
    from gohr.experiments.run_folder import RunFolder

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
    >>> import gohr
    >>> config = gohr.ExperimentConfig("tiny", ["color-match"], ["uniform"], trials=3, episodes=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = gohr.run(config, folder)
    ...     table = score_table(run.folder)
    >>> table.runs("uniform", "color-match").shape
    (3,)
    """
    from gnomon import ScoreTable

    chosen = metric_named(metric)
    scores: Mapping[TrialRecord, float | npt.NDArray[np.float64]]
    if isinstance(chosen, AttemptMetric):
        scores = _attempt_scores(run_folder, chosen, count_empty)
    else:
        found = run_episodes(run_folder, count_empty=count_empty) if episodes is None else episodes
        scores = {record: chosen.compute(*trial) for record, trial in found.items()}
    frame = _score_frame(run_folder, scores, per_episode=chosen.per_episode)
    counted = "counted as errors" if count_empty else "left out, as the captive server does"
    return ScoreTable.from_frame(
        frame,
        metric=metric,
        unit=chosen.unit,
        higher_is_better=chosen.higher_is_better,
        provenance=(f"experiment {run_folder.config.name}", f"attempts on empty cells {counted}"),
    )


def _attempt_scores(
    run_folder: RunFolder, metric: AttemptMetric, count_empty: bool
) -> dict[TrialRecord, float]:
    """Return a score of each trial that looks at every attempt.

    The chances are recorded, except for a hidden rule; its trials, and all trials for a score that
    needs the boards, are read in full.
    """
    done = [record for record in run_folder.trials() if record.status == "done"]
    rules = run_folder.config.rules
    whole = {rule.name: rule.rule_set for rule in rules if rule.hidden or metric.needs_log}
    recorded = [record for record in done if record.rule not in whole]
    scores = {
        record: metric.compute(RecordedAttempts.of(trial, count_empty=count_empty))
        for record, trial in run_folder.outcomes(recorded)
    }
    for record in done:
        if record.rule in whole:
            log, board = run_folder.log(record), run_folder.config.board
            attempts = TrialAttempts(log, whole[record.rule], board, count_empty)
            scores[record] = metric.compute(attempts)
    return scores


def _score_frame(
    run_folder: RunFolder,
    scores: Mapping[TrialRecord, float | npt.NDArray[np.float64]],
    *,
    per_episode: bool,
) -> pl.DataFrame:
    """Return a row for each trial of the experiment, or each episode of completed trials."""
    import polars as pl

    config = run_folder.config
    found = {(r.learner, r.rule, r.trial): value for r, value in scores.items()}
    planned = [
        (learner.name, rule.name, trial)
        for learner, rule, trial in product(config.learners, config.rules, range(config.trials))
        if not per_episode or (learner.name, rule.name, trial) in found
    ]
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

    Shape (trials, episodes) each, in the order of the experiment; a pair without a trial that is
    done is left out. A trial that stopped earlier than others of its pair has made no error since.
    """
    curves: dict[tuple[str, str], list[npt.NDArray[np.float64]]] = {}
    for record, (errors, _) in episodes.items():
        curve = np.cumsum(errors).astype(np.float64)
        curves.setdefault((record.learner, record.rule), []).append(curve)
    return {pair: np.stack(_prolonged(trials)) for pair, trials in curves.items()}


def _prolonged(curves: Sequence[npt.NDArray[np.float64]]) -> list[npt.NDArray[np.float64]]:
    longest = max(map(len, curves))
    return [np.pad(curve, (0, longest - len(curve)), mode="edge") for curve in curves]
