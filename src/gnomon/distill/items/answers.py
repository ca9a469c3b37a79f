"""Answers of models to items as a matrix, and what of it is missing, dull or too little."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from gnomon.distill.items.item_suite import LEAST_ITEMS
from gnomon.distill.items.lists import able_items
from gnomon.errors import ScoreDataError, counted, listed
from gnomon.scores.table import FloatArray, ScoreTable

#: Fewer models leave item parameters noise; still fewer are refused.
FEW_MODELS, LEAST_MODELS = 50, 20
#: Errors of 100 of 1,000 simulated items with so many training models; see benchmarks/README.md.
_OF_SIX, _OF_TWO_HUNDRED = "3.0 to 3.4", "1.9 to 2.1"
MOST_SHOWN = 4


def item_matrix(
    table: ScoreTable, *, but: str | None = None
) -> tuple[tuple[str, ...], tuple[str, ...], FloatArray]:
    """Return models, items and the mean answers, NaN where missing.

    One model may be named that is not counted as one to fit to.

    Raises
    ------
    ScoreDataError
        A score is not between 0 and 1, or there are too few models or items.
    """
    frame = table.last_step().to_frame()
    models = sorted(frame["algorithm"].unique().to_list())
    items = sorted(frame["task"].unique().to_list())
    cells = frame.group_by("algorithm", "task").agg(pl.col("score").drop_nans().mean())
    x = np.full((len(models), len(items)), np.nan)
    rows = cells["algorithm"].replace_strict({m: i for i, m in enumerate(models)})
    columns = cells["task"].replace_strict({t: i for i, t in enumerate(items)})
    x[rows.to_numpy(), columns.to_numpy()] = cells["score"].to_numpy()
    outside = (x < 0) | (x > 1)
    if outside.any():
        i, j = np.argwhere(outside)[0]
        off = 100 * abs(x[i, j] - np.clip(x[i, j], 0, 1)) / len(items)
        others = f" and {n - 1} more" if (n := int(outside.sum())) > 1 else ""
        raise ScoreDataError(
            f"expected answers from 0 to 1, found {x[i, j]:g} of {models[i]} on {items[j]}"
            f"{others}; this one moves the share that {models[i]} solves by {off:.1f} points or "
            "more: mend it, or leave it out"
        )
    if (n_models := len({*models} - {but})) < LEAST_MODELS:
        raise ScoreDataError(
            f"expected at least {LEAST_MODELS} models to fit items to, found {n_models}: "
            f"simulated, 100 items chosen by 6 models err by {_OF_SIX} points where 200 models "
            f"make that {_OF_TWO_HUNDRED}, and from so few no interval can be calibrated"
        )
    return tuple(models), tuple(items), x


def check_size(x: FloatArray, n_items: int) -> None:
    """Refuse a number of items that does not fit, and answers that tell no model from another.

    Raises
    ------
    ScoreDataError
    """
    n_all = x.shape[1]
    if not LEAST_ITEMS <= n_items < n_all:
        raise ScoreDataError(f"expected from {LEAST_ITEMS} to {n_all - 1} items, found {n_items}")
    if np.ptp(np.nanmean(x, axis=1)) == 0:
        raise ScoreDataError("expected models that differ; all solve the same share of the items")
    if (n_able := len(able_items(x))) < n_items:
        raise ScoreDataError(
            f"expected at least {n_items} items whose answers differ, found {n_able} of {n_all}: "
            f"{n_all - n_able} are solved by every model, or by none"
        )


def gaps_in_words(models: Sequence[str], items: Sequence[str], x: FloatArray) -> list[str]:
    """Return in words which answers are missing, and which items tell nothing."""
    told = []
    missing = np.isnan(x).sum(axis=1)
    if missing.any():
        named = [f"{m} {n}" for m, n in zip(models, missing, strict=True) if n]
        told.append(
            f"{counted(int(missing.sum()), 'answer')} missing of {x.size} "
            f"({listed(named, MOST_SHOWN)}): a model's share is of the items that it has"
        )
    if dull := len(items) - len(able_items(x)):
        told.append(
            f"{counted(dull, 'item')} that all models answer alike: no candidates, but in the mean"
        )
    return told
