"""Scores of a run as a table: learners are algorithms, rules are tasks, trials are runs."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gohr.errors import StuckRuleWarning
from gohr.experiments.metrics import (
    Episodes,
    Errors,
    Floats,
    Metric,
    PlayedTrial,
    metric_named,
    stored_episodes,
)
from gohr.outcomes import STALEMATE

if TYPE_CHECKING:
    from gnomon import ScoreTable
    from gohr.experiments.config import ExperimentConfig
    from gohr.experiments.runs import Run
    from gohr.experiments.store import TrialRecord

#: The episodes of each trial that is done, in the order of the experiment.
RunEpisodes = Mapping["TrialRecord", Episodes]


def score(
    run: str | os.PathLike[str] | Run, metric: str = "tce", *, count_empty: bool = True
) -> ScoreTable:
    """Return a score of every trial of a run as a table: learners as algorithms, rules as tasks.

    Runs are labelled ``RULE TRIAL``, since a learner starts anew on each rule; those of people
    (learners of the kind ``person``) ``TRIAL``, the number of the person on all rules. A trial that
    failed or has not been played is a missing run. A score per episode has the column ``step``, the
    number of episodes played, from 1; a score that is not reached is ``censored``.

    Parameters
    ----------
    run : path or Run
    metric : str
        One of `METRICS`.
    count_empty : bool
        As in :func:`episode_errors`; the table's provenance records the choice.

    Raises
    ------
    UnknownNameError
        With the nearest names.
    RunFolderError
        It is not a run folder, or the attempts of a trial cannot be read.

    Warns
    -----
    StuckRuleWarning
        If a rule lets no piece move on most boards as they are dealt, for a score of episodes.

    Examples
    --------
    >>> import tempfile
    >>> from gohr.experiments import ExperimentConfig, run
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=2, episodes=3)
    >>> with tempfile.TemporaryDirectory() as out:
    ...     table = score(run(config, out))
    >>> table.metric, table.unit, table.algorithms, table.tasks, len(table)
    ('tce', 'errors', ('uniform',), ('clockwise',), 2)
    >>> table.run_labels("uniform", "clockwise")
    ('clockwise 0', 'clockwise 1')
    """
    chosen = metric_named(metric)
    if not chosen.of_attempts:
        folder, episodes = opened(run, count_empty=count_empty)
        return score_episodes(folder, metric, episodes, count_empty=count_empty)
    from gohr.experiments.runs import Run

    folder = run if isinstance(run, Run) else Run.open(run)
    done = [record for record in folder.trials() if record.status == "done"]
    rules = {rule.name: rule.rule_set for rule in folder.config.rules}
    board = folder.config.board
    scores = {
        record: chosen.compute(PlayedTrial(log, rules[record.rule], board, count_empty))
        for record, log in folder.each(done)
    }
    return _table(folder, chosen, scores, count_empty)


def run_label(rule: str, trial: int) -> str:
    """Return the label of a learner's trial as a run of a table of scores: ``RULE TRIAL``.

    A learner starts anew on each rule. With one label, trials of the same number on several rules
    would be taken for one run, and an effect that they share would be estimated.

    Examples
    --------
    >>> run_label("clockwise", 0)
    'clockwise 0'
    """
    return f"{rule} {trial}"


def opened(
    run: str | os.PathLike[str] | Run, *, count_empty: bool = True
) -> tuple[Run, RunEpisodes]:
    """Return an open run and its episodes; warn the caller of the caller of stuck rules."""
    from gohr.experiments.runs import Run

    folder = run if isinstance(run, Run) else Run.open(run)
    episodes = run_episodes(folder, count_empty=count_empty)
    for warning in stuck_rules(folder.config, episodes):
        warnings.warn(warning, StuckRuleWarning, stacklevel=3)
    return folder, episodes


def run_episodes(run_folder: Run, *, count_empty: bool = True) -> RunEpisodes:
    """Return the episodes of every trial that is done, without reading attempts.

    Raises RunFolderError if the run cannot be read.
    """
    return {
        record: stored_episodes(record.episodes, count_empty=count_empty)
        for record in run_folder.trials()
        if record.episodes is not None
    }


def score_episodes(
    run_folder: Run, metric: str, episodes: RunEpisodes, *, count_empty: bool = True
) -> ScoreTable:
    """Return a score of every trial of an open run whose episodes have been read; see `score`."""
    chosen = metric_named(metric)
    scores = {record: chosen.compute(*trial) for record, trial in episodes.items()}
    return _table(run_folder, chosen, scores, count_empty)


def _table(
    run_folder: Run,
    metric: Metric,
    scores: Mapping[TrialRecord, float | Floats],
    count_empty: bool,
) -> ScoreTable:
    """Return a row for each trial of the experiment, or each episode of completed trials."""
    config = run_folder.config
    found = {(r.learner, r.rule, r.trial): value for r, value in scores.items()}
    names = [x.name for x in config.learners], [x.name for x in config.rules]
    planned = [
        key
        for key in product(*names, range(config.trials))
        if not metric.per_episode or key in found
    ]
    people = {x.name for x in config.learners if x.kind == "person"}
    columns = {
        "algorithm": [learner for learner, _, _ in planned],
        "task": [rule for _, rule, _ in planned],
        "run": [
            str(trial) if learner in people else run_label(rule, trial)
            for learner, rule, trial in planned
        ],
    }
    counted = "counted as errors" if count_empty else "left out, as the captive server does"
    provenance = f"experiment {config.name}", f"attempts on empty cells {counted}"
    return metric.table(columns, [found.get(key, math.nan) for key in planned], provenance)


def stuck_rules(config: ExperimentConfig, episodes: RunEpisodes) -> tuple[str, ...]:
    """Return a warning for each rule that lets no piece move on most boards as they are dealt."""
    from gohr.experiments.trial import stuck_as_dealt

    ended_at_once: dict[str, list[float]] = {}
    for record, (errors, finish) in episodes.items():
        at_once = (finish == STALEMATE) & (errors == 0)
        ended_at_once.setdefault(record.rule, []).append(float(at_once.mean()))
    # Boards are dealt again only for rules that may be stuck.
    doubtful = {rule for rule, shares in ended_at_once.items() if max(shares) > 0.5}
    found = [stuck_as_dealt(config, rule) for rule in config.rules if rule.name in doubtful]
    return tuple(filter(None, found))


def cumulated_errors(episodes: RunEpisodes) -> dict[tuple[str, str], npt.NDArray[np.int32]]:
    """Return the cumulated errors of every trial that is done, by learner and rule.

    Shape (trials, episodes) each, in the order of the experiment; a pair without a trial that is
    done is left out. A trial that stopped earlier than others of its pair has made no error since.
    """
    made: dict[tuple[str, str], list[Errors]] = {}
    for record, (errors, _) in episodes.items():
        made.setdefault((record.learner, record.rule), []).append(errors)
    curves = {}
    for pair, own in made.items():
        curves[pair] = np.zeros((len(own), max(map(len, own))), dtype=np.int32)
        for curve, errors in zip(curves[pair], own, strict=True):
            curve[: len(errors)] = errors
        np.cumsum(curves[pair], axis=1, out=curves[pair])
    return curves
