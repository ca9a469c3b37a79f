"""``gnomon suite predict``: a summary from the few tasks of a saved model."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.option_groups import with_groups
from gnomon.cli.score_options import (
    Level,
    ReadOptions,
    Score,
    Source,
    scores_of,
)
from gnomon.cli.suite_scores import References, references_of
from gnomon.errors import ScoreDataError, UnknownNameError

if TYPE_CHECKING:
    from gnomon.distill.models import SubsetModel
    from gnomon.scores.table import ScoreTable

__all__ = ["predict"]


@with_groups
def predict(
    model: Annotated[Path, typer.Argument(help="What gnomon distill --model has written.")],
    source: Source,
    references: References = None,
    level: Level = 0.9,
    score: Score = None,
    *,
    reading: ReadOptions,
    as_json: JsonOption = False,
) -> None:
    """Predict the summary of algorithms from the few tasks of a saved model, with intervals."""
    from gnomon.distill.models import SubsetModel

    with answering("suite predict", as_json=as_json) as answer:
        fitted = SubsetModel.load(model)
        ends = references_of(references)
        table = scores_of(source, score, reading).last_step()
        records = []
        for name in table.algorithms:
            scores = _scores(table, name, fitted, ends)
            missing = [task for task in fitted.tasks if task not in scores]
            if missing and not _suffices(fitted, scores):
                answer.warn(f"{name}: not estimable, no score on {', '.join(missing)}")
            records.append(_record(name, fitted, scores, level))
        if all(record["value"] is None for record in records):
            raise ScoreDataError(f"expected scores on {', '.join(fitted.tasks)}; nobody has all")
        answer.records(records, ["algorithm", "value", "low", "high", "outside", "missing"])


def _scores(
    table: ScoreTable,
    name: str,
    model: SubsetModel,
    ends: dict[str, tuple[float, float]] | None,
) -> dict[str, float]:
    """Return the normalised mean score of an algorithm on each task of a model that it has."""
    found = {}
    for task in model.tasks:
        if task not in table.tasks_of(name):
            continue
        value = float(table.runs(name, task).mean())
        if not math.isfinite(value):
            continue
        if ends is not None:
            if task not in ends:
                raise ScoreDataError(f"expected a reference score of {task}; there is none")
            random, human = ends[task]
            value = 100.0 * (value - random) / (human - random)
        found[task] = value
    return found


def _suffices(model: SubsetModel, scores: dict[str, float]) -> bool:
    """Return whether a model can say something from the scores that there are."""
    try:
        model.missing(scores)
    except UnknownNameError:
        return False
    return True


def _record(
    name: str, model: SubsetModel, scores: dict[str, float], level: float
) -> dict[str, Any]:
    """Return what a model says of an algorithm; nothing, if too much is missing."""
    record: dict[str, Any] = {"algorithm": name, "value": None, "low": None, "high": None}
    missing = [task for task in model.tasks if task not in scores]
    record |= {"level": level, "outside": [], "missing": missing}
    if _suffices(model, scores):
        found = model.estimate(scores, level=level)
        record |= {"value": found.value, "low": found.low, "high": found.high}
        record["outside"] = list(found.outside)
    return record
