"""Prediction of summary scores from the few tasks of a model, and the better of two algorithms."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import overload

from gnomon.distillation.atari import published_set
from gnomon.distillation.models import Prediction, SubsetModel
from gnomon.distillation.preparation import References
from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.results import FieldRecord, Results, recorded
from gnomon.scores.readers.registry import Scores, table_of
from gnomon.scores.steps import at_common_step
from gnomon.scores.table import ScoreTable

#: With a lower probability either way, the comparison is undecided.
_DECIDED = 0.9


@dataclass(frozen=True, eq=False, repr=False)
class Predictions(Results[Prediction]):
    """The predicted summary of each algorithm of a table."""

    columns = ("algorithm", "value", "low", "high", "outside", "missing", "verdict")


@dataclass(frozen=True)
class PairPrediction(FieldRecord):
    """Which of two algorithms is better on the full suite, judged by a few tasks.

    `probability` is that of `a` having the greater summary; the difference is a minus b, of the
    transformed summaries, with its interval. `verdict` is the better algorithm, or ``undecided`` if
    the probability is below 0.9 either way.
    """

    a: str
    b: str
    probability: float
    difference: float
    low: float
    high: float
    level: float
    verdict: str


@dataclass(frozen=True, eq=False, repr=False)
class PairPredictions(Results[PairPrediction]):
    """Predicted comparisons of pairs of algorithms."""

    columns = ("a", "b", "probability", "difference", "low", "high", "verdict")

    @property
    def notes(self) -> tuple[str, ...]:
        """The answer in words, and how to read the difference."""
        unit = "log10(1 + summary)" if self.settings.get("transform") == "log" else "the summary"
        lines = []
        for one in self:
            better, other, p = one.a, one.b, one.probability
            if p < 0.5:
                better, other, p = one.b, one.a, 1.0 - p
            words = "is" if one.verdict != "undecided" else "may be"
            lines.append(f"{better} {words} better than {other} (probability {p:.2f})")
        return (*lines, f"difference: a minus b, of {unit}")


@overload
def predict(
    model: SubsetModel | str | os.PathLike[str],
    scores: Scores,
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
    scores: Scores,
    *,
    pair: tuple[str, str],
    references: References | None = None,
    normalized: bool = False,
    runs: int | None = None,
    level: float = 0.9,
) -> PairPredictions: ...


def predict(
    model: SubsetModel | str | os.PathLike[str],
    scores: Scores,
    *,
    pair: tuple[str, str] | None = None,
    references: References | None = None,
    normalized: bool = False,
    runs: int | None = None,
    level: float = 0.9,
) -> Predictions | PairPredictions:
    """Predict the summary score of algorithms from their scores on a few tasks.

    Parameters
    ----------
    model : SubsetModel, path or str
        A model, the file of a saved one, or the name of a published set of Atari games:
        ``atari-1``, ``atari-3``, ``atari-5``, ``atari-10``, ``atari-3-val`` or ``atari-5-val``.
        These take raw scores, and names of games in any spelling.
    scores : ScoreTable, path, data frame or mapping of arrays
        Of the model's tasks; several runs count by their mean, of learning curves at the last
        common step.
    pair : (str, str), optional
        Two algorithms of the table, which may have different tasks of the model: return which one
        is better on the full suite, and with what probability. Only a model fitted by the
        procedure ``factor`` can compare.
    references : mapping from task to (random, human), optional
        Scores become 100 (x - random) / (human - random); by the model's own references if not
        given.
    normalized : bool
        The scores are normalised already.
    runs : int, optional
        Number of runs of each score; counted in the table if not given, where the table or the
        training has several runs; else that of the training.
    level : float
        Of the prediction interval, between 0 and 1.

    Returns
    -------
    Predictions or PairPredictions
        In the order of the table; with `pair`, one record.

    Raises
    ------
    ScoreDataError
        No algorithm has the scores that are needed; a reference score is missing; the scores are
        raw, the model was fitted to normalised ones and has no references; the file holds no
        model; or the model is a line and cannot compare.
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
    table = at_common_step(table_of(scores))
    fitted = _model_of(model, table)
    ends = _references_for(fitted, table, references, normalized=normalized)
    settings = {"tasks": list(fitted.tasks), "level": level, "source": fitted.source}
    counts = {name: _run_counts(table, name, fitted, runs) for name in table.algorithms}
    assumed: tuple[str, ...] = ()
    if any(counts.values()) and fitted.forecaster is not None and fitted.forecaster.runs is None:
        assumed = (
            "the training has one run per score: intervals are those of as many runs as its scores "
            "are means of",
        )
    if pair is not None:
        for name in pair:
            if name not in table.algorithms:
                raise UnknownNameError("algorithm", name, table.algorithms)
        with recorded() as notes:
            forecasts = [
                fitted.forecast(_known_scores(table, name, fitted, ends), runs=counts[name])
                for name in pair
            ]
        for name, one in zip(pair, forecasts, strict=True):
            if math.isnan(one.center):
                raise ScoreDataError(f"{name}: expected a score on one of the model's tasks")
        a, b = forecasts
        low, high, probability = a.difference(b, level, fitted.scale)
        sure = max(probability, 1.0 - probability) >= _DECIDED
        verdict = pair[0 if probability > 0.5 else 1] if sure else "undecided"
        settings["transform"] = fitted.transform
        record = PairPrediction(*pair, probability, a.center - b.center, low, high, level, verdict)
        return PairPredictions((record,), settings, (*notes, *assumed))
    found, lacking = [], []
    with recorded() as notes:
        for name in table.algorithms:
            known = _known_scores(table, name, fitted, ends)
            missing = tuple(task for task in fitted.tasks if task not in known)
            try:
                fitted.missing(known)
            except UnknownNameError:
                lacking.append(f"{name}: not estimable, no score on {', '.join(missing)}")
                found.append(Prediction(name, level=level, missing=missing))
                continue
            runs_of = counts[name]
            found.append(fitted.estimate(known, level=level, runs=runs_of, algorithm=name))
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


def _references_for(
    model: SubsetModel, table: ScoreTable, given: References | None, *, normalized: bool
) -> References | None:
    """Return the references that put scores on the scale of the training; None if they are."""
    if given is not None:
        return given
    if normalized or table.normalization is not None or not model.normalized:
        return None
    if model.references is None:
        raise ScoreDataError(
            f"expected scores normalised as in the model's training ({model.normalized}), found "
            "raw ones; give references (task, random, human), or normalise the scores in the same "
            "way and set normalized"
        )
    return model.references


def _run_counts(
    table: ScoreTable, name: str, model: SubsetModel, runs: int | None
) -> dict[str, float] | None:
    """Return the number of runs of each score; None if unknown."""
    tasks = [task for task in model.tasks if task in table.tasks_of(name)]
    if runs is not None:
        return dict.fromkeys(tasks, float(runs))
    counts = {task: float(len(table.runs(name, task))) for task in tasks}
    counted = model.forecaster is not None and model.forecaster.runs is not None
    return counts if counted or max(counts.values(), default=0) > 1 else None


def _known_scores(
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
