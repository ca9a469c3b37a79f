"""Atari-5: five games that predict the median of 57 (Aitchison, Sweetser and Hutter 2022).

The numbers in ``published/`` are printed in *Atari-5: Distilling the Arcade Learning Environment
down to Five Games* (arXiv 2210.02019); ``residuals.csv`` has the errors of the published models,
measured by us.

Examples
--------
>>> from gnomon.distillation import atari
>>> atari.published_models()["Atari-3"].tasks
('battlezone', 'namethisgame', 'phoenix')
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from typing import Any, Unpack

from gnomon.distillation.models import SubsetModel
from gnomon.distillation.preparation import PreparationOptions, PreparedScores, prepare
from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.scores.anchors import atari_name, shipped_anchors
from gnomon.scores.datasets import load_scores
from gnomon.scores.normalization import normalize
from gnomon.scores.table import ScoreTable

#: The games were chosen on the same algorithms as the residuals. With intervals wider by this
#: factor, the six models cover 0.86 to 1.00 of 22 algorithms not in the data (0.90 is nominal).
_HINDSIGHT = 1.4


def _published_table(name: str) -> list[dict[str, str]]:
    text = files("gnomon.distillation").joinpath("published", f"{name}.csv").read_text("utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


@lru_cache
def published_models() -> Mapping[str, SubsetModel]:
    """Return the published models (table 9): Atari-1, -3, -5, -10, -3-Val and -5-Val.

    Examples
    --------
    >>> published_models()["Atari-3"].weights
    (0.3706, 0.5133, 0.1015)
    """
    games: dict[str, list[tuple[str, float]]] = {}
    for row in _published_table("table9"):
        games.setdefault(row["model"], []).append((row["game"], float(row["weight"])))
    measured = {row["model"]: row for row in _published_table("residuals")}
    found = {}
    for name, pairs in games.items():
        ends = (pair.split(":") for pair in measured[name]["ranges"].split())
        found[name] = SubsetModel(
            tasks=tuple(game for game, _ in pairs),
            weights=tuple(weight for _, weight in pairs),
            ranges=tuple((float(low), float(high)) for low, high in ends),
            residuals=tuple(_HINDSIGHT * float(r) for r in measured[name]["residuals"].split()),
            source="arXiv 2210.02019, table 9",
            normalized="random-human",
        )
    return found


def published_set(name: str, tasks: Collection[str] = ()) -> SubsetModel | None:
    """Return a published model by its name in any case; None if there is none.

    Parameters
    ----------
    name : str
        For example ``atari-5``.
    tasks : collection of str
        Names of games: the tasks of the model get these spellings.

    Raises
    ------
    UnknownNameError
        A task is none of the 57 games.
    ScoreDataError
        Two tasks are one game.

    Examples
    --------
    >>> published_set("atari-1", ["ALE/NameThisGame-v5"]).tasks
    ('ALE/NameThisGame-v5',)
    """
    named = {one.lower(): model for one, model in published_models().items()}
    model = named.get(name.lower())
    if model is None:
        return None
    known, spelling = shipped_anchors()["atari"], dict[str, str]()
    for task in tasks:
        game = atari_name(task)
        if game not in known:
            raise UnknownNameError("Atari game", game or task, known)
        if game in spelling:
            raise ScoreDataError(f"expected each game once; {task!r} is {game} again")
        spelling[game] = task
    return replace(
        model,
        tasks=tuple(spelling.get(game, game) for game in model.tasks),
        references={spelling.get(game, game): known[game] for game in model.tasks},
    )


def paper_scores(**changes: Unpack[PreparationOptions]) -> PreparedScores:
    """Return the data set ``atari5`` as the paper's code prepares it: 62 algorithms, 57 games.

    Surround, which fewer than 40 algorithms played, is no candidate. Where a score was collected
    twice, the mean is of the transformed scores, and the summary is that of the second.

    Parameters
    ----------
    **changes
        Options of :func:`gnomon.distillation.prepare` that replace those of the paper.
    """
    options: PreparationOptions = {"group_by": "group", "date_by": "year"}
    options.update(changes)
    options["exclude"] = ("surround", *changes.get("exclude", ()))
    rows = load_scores("atari5").to_records()

    def prepared(read: Iterable[Mapping[str, Any]]) -> PreparedScores:
        """Return the scores of one row of each cell, the last one."""
        cells = {(row["algorithm"], row["task"]): row for row in read}
        return prepare(normalize(ScoreTable([*cells.values()]), "atari"), **options)

    first, last = prepared(reversed(rows)), prepared(rows)
    return replace(last, x=(first.x + last.x) / 2)
