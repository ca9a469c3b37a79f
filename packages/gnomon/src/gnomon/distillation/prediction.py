"""Prediction of the summary scores of algorithms, or of the better of two, from a few tasks."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gnomon.distillation.atari import published_models, published_set
from gnomon.distillation.models import Prediction, SubsetModel
from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.results import FieldRecord, Results, recorded
from gnomon.scores.reading import Scores, table_of
from gnomon.scores.table import ScoreTable

#: If neither probability reaches this, the comparison is undecided.
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
    neither is better with a probability of 0.9.
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
        """The answer in words, and the unit of the difference."""
        unit = "log10(1 + summary)" if self.settings.get("transform") == "log" else "the summary"
        lines = []
        for one in self:
            better, other, p = one.a, one.b, one.probability
            if p < 0.5:
                better, other, p = one.b, one.a, 1.0 - p
            words = "is" if one.verdict != "undecided" else "may be"
            lines.append(f"{better} {words} better than {other} (probability {p:.2f})")
        return (*lines, f"difference: a minus b in {unit}")


def predict(
    model: SubsetModel | str | os.PathLike[str],
    scores: Scores,
    *,
    pair: tuple[str, str] | None = None,
    normalized: bool = False,
    level: float = 0.9,
) -> Predictions | PairPredictions:
    """Predict the summary score of algorithms from their scores on a few tasks.

    Parameters
    ----------
    model : SubsetModel, path or str
        A model, the file of a saved one, or the name of a published set of Atari games:
        ``atari-1``, ``atari-3``, ``atari-5``, ``atari-10``, ``atari-3-val`` or ``atari-5-val``.
        These take raw scores, and names of games in any spelling.
    scores : ScoreTable, path, data frame or arrays
        Scores on the model's tasks; several runs are averaged, and of learning curves the last
        common step is used.
    pair : (str, str), optional
        Two algorithms of the table, which may have different tasks of the model: return which one
        is better on the full suite, and with what probability. Only a model fitted by the
        procedure ``factor`` can compare.
    normalized : bool
        The scores are on the model's scale already (0 to 100). Raw scores are normalised by the
        model's references; those of :func:`gnomon.normalize` count in percent.
    level : float
        Level of the prediction interval, between 0 and 1.

    Returns
    -------
    Predictions or PairPredictions
        In the order of the table; with `pair`, one record.

    Raises
    ------
    ScoreDataError
        No algorithm has the scores that are needed; the scores are raw, the model was fitted to
        normalised ones and has no references; the file holds no model; the model is a line and
        cannot compare; or a pair is one algorithm twice.
    UnknownNameError
        An algorithm of the pair is not in the table, or a task is not an Atari game.

    Warns
    -----
    DegenerateScoresWarning
        A score is missing, or lies outside the training range.

    Examples
    --------
    >>> games = ["BattleZone", "DoubleDunk", "NameThisGame", "Phoenix", "Qbert"]
    >>> scores = {"mine": [[41_708.0, -0.3, 15_572.0, 70_324.0, 27_121.0]]}
    >>> (one,) = predict("atari-5", ScoreTable.from_arrays(scores, tasks=games))
    >>> print(f"{one.value:.0f} [{one.low:.0f}, {one.high:.0f}]")
    190 [136, 266]
    """
    table = table_of(scores)
    fitted = _fitted(model, table)
    ends: Mapping[str, tuple[float, float]] = {}
    if table.normalization is not None:
        ends = dict.fromkeys(fitted.tasks, (0.0, 1.0))
    elif fitted.normalized and not normalized:
        if fitted.references is None:
            raise ScoreDataError(
                "expected scores normalised as in the model's training "
                f"({fitted.normalized}), found raw ones; normalise them in the same way"
            )
        ends = fitted.references
    settings = {"tasks": list(fitted.tasks), "level": level, "source": fitted.source}
    known = {name: _known_scores(table, name, fitted, ends) for name in table.algorithms}
    counts = {name: _run_counts(table, name, fitted) for name in table.algorithms}
    assumed: tuple[str, ...] = ()
    if any(counts.values()) and fitted.forecaster is not None and fitted.forecaster.runs is None:
        assumed = (
            "the noise of single runs is not known from the training: intervals are for scores "
            "averaged over as many runs as those of the training",
        )
    if pair is not None:
        settings["transform"] = fitted.transform
        with recorded() as notes:
            record = _better(fitted, known, counts, pair, level)
        return PairPredictions((record,), settings, (*notes, *assumed))
    found, lacking = [], []
    with recorded() as notes:
        for name, own in known.items():
            missing = tuple(task for task in fitted.tasks if task not in own)
            if missing and (fitted.forecaster is None or not own):
                lacking.append(f"{name}: not estimable, no score on {', '.join(missing)}")
                found.append(Prediction(name, level=level, missing=missing))
            else:
                found.append(fitted.estimate(own, level=level, runs=counts[name], algorithm=name))
    if len(lacking) == len(found):
        raise ScoreDataError(
            f"expected an algorithm with scores on {', '.join(fitted.tasks)}; found none"
        )
    return Predictions(tuple(found), settings, (*lacking, *notes, *assumed))


def _fitted(model: SubsetModel | str | os.PathLike[str], table: ScoreTable) -> SubsetModel:
    """Return the model given, that of a file, or a published one with the table's names."""
    if isinstance(model, SubsetModel):
        return model
    if isinstance(model, str) and not Path(model).is_file():
        published = published_set(model, table.tasks)
        if published is not None:
            return published
        if not Path(model).suffix:
            raise UnknownNameError("model", model, ("FILE", *map(str.lower, published_models())))
    return SubsetModel.load(model)


def _better(
    fitted: SubsetModel,
    known: Mapping[str, dict[str, float]],
    counts: Mapping[str, dict[str, float] | None],
    pair: tuple[str, str],
    level: float,
) -> PairPrediction:
    for name in pair:
        if name not in known:
            raise UnknownNameError("algorithm", name, known)
    if pair[0] == pair[1]:
        raise ScoreDataError(f"expected two different algorithms, found {pair[0]!r} twice")
    a, b = (fitted.forecast(known[name], runs=counts[name]) for name in pair)
    for name, one in zip(pair, (a, b), strict=True):
        if math.isnan(one.center):
            raise ScoreDataError(f"{name}: expected a score on one of the model's tasks")
    low, high, probability = a.difference(b, level, fitted.scale)
    sure = max(probability, 1.0 - probability) >= _DECIDED
    verdict = pair[0 if probability > 0.5 else 1] if sure else "undecided"
    return PairPrediction(*pair, probability, a.center - b.center, low, high, level, verdict)


def _run_counts(table: ScoreTable, name: str, model: SubsetModel) -> dict[str, float] | None:
    """Return the number of runs of each score; None if unknown."""
    tasks = [task for task in model.tasks if task in table.tasks_of(name)]
    counts = {task: float(len(table.runs(name, task))) for task in tasks}
    counted = model.forecaster is not None and model.forecaster.runs is not None
    return counts if counted or max(counts.values(), default=0) > 1 else None


def _known_scores(
    table: ScoreTable, name: str, model: SubsetModel, ends: Mapping[str, tuple[float, float]]
) -> dict[str, float]:
    """Return the normalised mean score of an algorithm on each task of a model that it has.

    `ends` are the scores that become 0 and 100; scores on the model's scale have none.
    """
    found = {}
    for task in model.tasks:
        if task not in table.tasks_of(name):
            continue
        value = float(table.runs(name, task).mean())
        if not math.isfinite(value):
            continue
        if ends:
            zero, one = ends[task]
            value = 100.0 * (value - zero) / (one - zero)
        found[task] = value
    return found
