"""Prediction of summary scores from the few tasks of a saved model, with intervals."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

from gnomon.distill.models import SubsetModel
from gnomon.distill.prepared import References
from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.results import FieldRecord, Results, recorded
from gnomon.scores.common_steps import at_common_step
from gnomon.scores.table import ScoreTable

__all__ = ["Prediction", "Predictions", "predict"]


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
    """

    algorithm: str
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    level: float = 0.9
    outside: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Predictions(Results[Prediction]):
    """What a model says of each algorithm of a table."""

    columns = ("algorithm", "value", "low", "high", "outside", "missing")


def predict(
    model: SubsetModel | str | os.PathLike[str],
    scores: ScoreTable,
    *,
    references: References | None = None,
    level: float = 0.9,
) -> Predictions:
    """Predict the summary of algorithms from the few tasks of a model, with intervals.

    Parameters
    ----------
    model : SubsetModel, or the path of a saved one
    scores : ScoreTable
        Of the model's tasks; several runs count by their mean, of curves at the last step that all
        reach.
    references : mapping from task to (random, human), optional
        Scores become 100 (x - random) / (human - random), as those that the model was fitted to.
    level : float
        Of the prediction interval, between 0 and 1.

    Returns
    -------
    Predictions
        In the order of the table.

    Raises
    ------
    ScoreDataError
        No algorithm has the scores that are needed; a reference score is missing; or the file
        holds no model.

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
    """
    fitted = model if isinstance(model, SubsetModel) else SubsetModel.load(model)
    table = at_common_step(scores)
    found, lacking = [], []
    with recorded() as notes:
        for name in table.algorithms:
            known = _known(table, name, fitted, references)
            missing = tuple(task for task in fitted.tasks if task not in known)
            try:
                fitted.missing(known)
            except UnknownNameError:
                lacking.append(f"{name}: not estimable, no score on {', '.join(missing)}")
                found.append(Prediction(name, level=level, missing=missing))
                continue
            told = fitted.estimate(known, level=level)
            ends = told.value, told.low, told.high
            found.append(Prediction(name, *ends, level, told.outside, missing))
    if all(math.isnan(one.value) for one in found):
        raise ScoreDataError(f"expected scores on {', '.join(fitted.tasks)}; nobody has all")
    settings = {"tasks": list(fitted.tasks), "level": level, "source": fitted.source}
    return Predictions(tuple(found), settings, (*lacking, *notes))


def _known(
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
