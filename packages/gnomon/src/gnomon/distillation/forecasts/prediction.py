"""Prediction of summary scores from the few tasks of a model, and the better of two algorithms.

The errors of two estimates are correlated where the algorithms are alike, and where both
extrapolate; the comparison of two takes both into account.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import overload

from gnomon.distillation.atari.facts import published_set
from gnomon.distillation.forecasts.pairs import SubsetComparison, comparison_of
from gnomon.distillation.models import SubsetModel
from gnomon.distillation.preparation.prepared import References
from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.results import FieldRecord, Results, recorded
from gnomon.scores.steps import at_common_step
from gnomon.scores.table import ScoreTable


@dataclass(frozen=True)
class Prediction(FieldRecord):
    """What a model says of an algorithm.

    Parameters
    ----------
    algorithm : str
    value, low, high : float
        The summary and its prediction interval, in units of the (normalised) scores; NaN if too
        many scores are missing.
    level : float
        Of the interval.
    outside, missing : tuple of str
        Tasks whose score lies outside the training range; tasks without a score.
    extrapolation : float
        How far outside, in standard deviations of the training.
    verdict : str
        Why the prediction is to be doubted or is refused; empty if nothing speaks against it.
    """

    algorithm: str
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    level: float = 0.9
    outside: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    extrapolation: float = 0.0
    verdict: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Predictions(Results[Prediction]):
    """What a model says of each algorithm of a table.

    Examples
    --------
    >>> Predictions((Prediction("dqn", 3.0, 2.0, 4.0),)).where(algorithm="dqn")[0].value
    3.0
    """

    columns = ("algorithm", "value", "low", "high", "outside", "missing", "verdict")


@dataclass(frozen=True, eq=False, repr=False)
class SubsetComparisons(Results[SubsetComparison]):
    """Comparisons of pairs of algorithms by a few tasks.

    Examples
    --------
    >>> one = SubsetComparison("a", "b", 0.97, 0.2, 0.02, 0.38, 0.9, "a")
    >>> SubsetComparisons((one,), {"transform": "log"})[0].verdict
    'a'
    """

    columns = ("a", "b", "probability", "difference", "low", "high", "verdict")

    @property
    def notes(self) -> tuple[str, ...]:
        """How to read the difference."""
        kind = self.settings.get("transform")
        meaning = {"log": "of log10(1 + summary): 0.1 is a quarter more"}.get(
            str(kind), f"({kind})"
        )
        return (f"probability that a is better on the full suite; difference {meaning}",)


@overload
def predict(
    model: SubsetModel | str | os.PathLike[str],
    scores: ScoreTable,
    *,
    pair: None = None,
    references: References | None = None,
    normalized: bool = False,
    runs: int | None = None,
    level: float = 0.9,
) -> Predictions: ...


@overload
def predict(
    model: SubsetModel | str | os.PathLike[str],
    scores: ScoreTable,
    *,
    pair: tuple[str, str],
    references: References | None = None,
    normalized: bool = False,
    runs: int | None = None,
    level: float = 0.9,
) -> SubsetComparisons: ...


def predict(
    model: SubsetModel | str | os.PathLike[str],
    scores: ScoreTable,
    *,
    pair: tuple[str, str] | None = None,
    references: References | None = None,
    normalized: bool = False,
    runs: int | None = None,
    level: float = 0.9,
) -> Predictions | SubsetComparisons:
    """Predict the summary score of algorithms from their scores on a few tasks.

    Parameters
    ----------
    model : SubsetModel, path or str
        A model, the file of a saved one, or the name of a published set of Atari games:
        ``atari-1``, ``atari-3``, ``atari-5``, ``atari-10``, ``atari-3-val`` or ``atari-5-val``.
        These take raw scores, and names of games in any spelling.
    scores : ScoreTable
        Of the model's tasks; several runs count by their mean, of curves at the last step that all
        reach.
    pair : (str, str), optional
        Two algorithms of the table, which may have different tasks of the model: return which one
        is better on the full suite, and with what probability. Only a model fitted by the
        procedure ``factor`` can compare.
    references : mapping from task to (random, human), optional
        Scores become 100 (x - random) / (human - random), as those that the model was fitted to;
        by the model's own references if none are given.
    normalized : bool
        The scores are normalised already.
    runs : int, optional
        How many runs each score is the mean of. Counted in the table if not given, where the
        table or the training has several; else taken to be as many as in the training.
    level : float
        Of the prediction interval, between 0 and 1.

    Returns
    -------
    Predictions
        In the order of the table; with `pair`, SubsetComparisons with one record.

    Raises
    ------
    ScoreDataError
        No algorithm has the scores that are needed; a reference score is missing; the scores are
        raw, the model was fitted to normalised ones and has no references; the file holds no
        model; or the model has a line alone and cannot compare.
    UnknownNameError
        An algorithm of the pair is not in the table, or a task is not an Atari game.

    Warns
    -----
    DegenerateScoresWarning
        A score is missing, or lies outside the training range.

    Examples
    --------
    >>> model = SubsetModel(("u", "v"), (0.5, 0.5), transform="identity", residuals=(-1.0, 1.0))
    >>> table = ScoreTable.from_arrays({"dqn": [[2, 4]]}, tasks=["u", "v"])
    >>> predict(model, table)[0].value
    3.0

    A published set of games, from raw scores:

    >>> table = ScoreTable.from_arrays({"mine": [[8049.0]]}, tasks=["NameThisGame-v5"])
    >>> round(predict("atari-1", table)[0].value)
    99
    """
    table = at_common_step(scores)
    fitted = _model_of(model, table)
    ends = references_for(fitted, table, references, normalized=normalized)
    settings = {"tasks": list(fitted.tasks), "level": level, "source": fitted.source}
    assumed = tuple(assumed_noise(fitted, table, runs))
    if pair is not None:
        with recorded() as notes:
            forecasts = []
            for name in pair:
                if name not in table.algorithms:
                    raise UnknownNameError("algorithm", name, table.algorithms)
                known = known_scores(table, name, fitted, ends)
                counts = run_counts(table, name, fitted, runs)
                forecasts.append(fitted.forecast(known, runs=counts))
        better = comparison_of(forecasts[0], forecasts[1], pair, scale=fitted.scale, level=level)
        settings["transform"] = fitted.transform
        return SubsetComparisons((better,), settings, (*notes, *assumed))
    found, lacking = [], []
    with recorded() as notes:
        for name in table.algorithms:
            known = known_scores(table, name, fitted, ends)
            missing = tuple(task for task in fitted.tasks if task not in known)
            try:
                fitted.missing(known)
            except UnknownNameError:
                lacking.append(f"{name}: not estimable, no score on {', '.join(missing)}")
                found.append(Prediction(name, level=level, missing=missing))
                continue
            told = fitted.estimate(known, level=level, runs=run_counts(table, name, fitted, runs))
            numbers = told.value, told.low, told.high, level, told.outside, missing
            found.append(Prediction(name, *numbers, told.extrapolation, told.verdict))
    if len(lacking) == len(found):
        raise ScoreDataError(
            f"expected an algorithm with scores on {', '.join(fitted.tasks)}; found none"
        )
    return Predictions(tuple(found), settings, (*lacking, *notes, *assumed))


def _model_of(model: SubsetModel | str | os.PathLike[str], table: ScoreTable) -> SubsetModel:
    """Return a model as it is, that of a file, or a published one with the table's names."""
    if isinstance(model, SubsetModel):
        return model
    if isinstance(model, str) and not Path(model).is_file():
        published = published_set(model, table.tasks)
        if published is not None:
            return published
    return SubsetModel.load(model)


def assumed_noise(model: SubsetModel, table: ScoreTable, runs: int | None) -> Iterator[str]:
    """Yield that the variance between runs is assumed, if it counts and the training has none."""
    counted = any(run_counts(table, name, model, runs) for name in table.algorithms)
    if counted and model.forecaster is not None and model.forecaster.runs is None:
        yield "the training has no runs: the variance between them is assumed"


def references_for(
    model: SubsetModel, table: ScoreTable, given: References | None, *, normalized: bool
) -> References | None:
    """Return the references that make scores what the model was fitted to; None if they are."""
    if given is not None:
        return given
    if normalized or table.normalization is not None or not model.normalized:
        return None
    if model.references is None:
        raise ScoreDataError(
            f"expected scores normalised as the model's training ({model.normalized}), found raw "
            "ones. Give --references FILE (task, random, human), normalise them in the same "
            "way, or say --normalized if they are"
        )
    return model.references


def run_counts(
    table: ScoreTable, name: str, model: SubsetModel, runs: int | None
) -> dict[str, float] | None:
    """Return how many runs each score is the mean of; None if nobody knows."""
    tasks = [task for task in model.tasks if task in table.tasks_of(name)]
    if runs is not None:
        return dict.fromkeys(tasks, float(runs))
    counts = {task: float(len(table.runs(name, task))) for task in tasks}
    counted = model.forecaster is not None and model.forecaster.runs is not None
    return counts if counted or max(counts.values(), default=0) > 1 else None


def known_scores(
    table: ScoreTable, name: str, model: SubsetModel, references: References | None
) -> dict[str, float]:
    """Return the normalised mean score of an algorithm on each task of a model that it has."""
    found = {}
    for task in model.tasks:
        if task not in table.tasks_of(name):
            continue
        value = float(table.runs(name, task).mean())
        if not math.isfinite(value):
            continue
        if references is not None:
            if task not in references:
                raise ScoreDataError(f"expected a reference score of {task}; there is none")
            random, human = references[task]
            value = 100.0 * (value - random) / (human - random)
        found[task] = value
    return found
