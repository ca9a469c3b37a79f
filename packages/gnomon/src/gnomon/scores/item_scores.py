"""Scores of models on the items of an evaluation: arrays in one order of items.

An item is a task of the table and an epoch of it a run. Epochs are nested in items: they are
averaged within their item, and never counted as if they were items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError, UnknownNameError, counted, joined, listed
from gnomon.scores.columns import FloatArray, IntArray, Rows, distinct, group_means, parts_of
from gnomon.scores.tidy import SPECIAL


@dataclass(frozen=True, eq=False, repr=False)
class ItemScores:
    """The rows of a table of items as arrays, in one order of items.

    They take 16 bytes per row, whatever the number of models.
    """

    models: tuple[str, ...]
    items: tuple[str, ...]
    n_epochs: int
    clusters: tuple[str, ...] | None
    cluster_of: IntArray | None
    _starts: IntArray
    _item: npt.NDArray[np.int32]
    _epoch: npt.NDArray[np.int32]
    _score: FloatArray

    @classmethod
    def of(cls, rows: Rows, score: FloatArray, cluster: str | None) -> ItemScores:
        """Return tidy rows without steps, by model, item and epoch."""
        models, items = rows["algorithm"].names, rows["task"].names
        model, item = rows["algorithm"].codes, rows["task"].codes
        clusters, cluster_of = None, None
        if cluster is not None:
            clusters, cluster_of = clusters_of_items(rows, cluster)
        run = rows["run"] if isinstance(rows["run"], np.ndarray) else np.array(rows.tolist("run"))
        labels, epoch = distinct(run)
        if len(labels) == 1:  # no memory for zeros
            epoch = np.broadcast_to(np.int32(0), epoch.shape)
        starts = np.cumsum([0, *rows["algorithm"].counts().values()])
        later = np.ones(max(model.size - 1, 0), bool)
        for code in (epoch, item, model):
            later = (code[1:] > code[:-1]) | (later & (code[1:] == code[:-1]))
        if not later.all():
            # One whole number for each row sorts faster than three columns.
            place = (model.astype(np.int64) * len(items) + item) * len(labels) + epoch
            order = np.argsort(place, kind="stable")
            item, epoch, score = item[order], epoch[order], score[order]
        return cls(models, items, len(labels), clusters, cluster_of, starts, item, epoch, score)

    def rows(self, model: str) -> tuple[IntArray, IntArray, FloatArray]:
        """Return item, epoch (from 0) and score of the rows of a model, by item and epoch."""
        if model not in self.models:
            raise UnknownNameError("algorithm", model, self.models)
        at = self.models.index(model)
        own = slice(self._starts[at], self._starts[at + 1])
        item, epoch = self._item[own].astype(np.int64), self._epoch[own].astype(np.int64)
        return item, epoch, self._score[own].copy()

    def matrix(self, models: Sequence[str] | None = None) -> FloatArray:
        """Return the mean over the epochs of each item, shape (models, items).

        NaN where a model has no score on an item. Read-only where all models have one score on all
        items: the scores of the table themselves.
        """
        names = self.models if models is None else models
        size = len(self.models), len(self.items)
        if models is None and self.n_epochs == 1 and self._score.size == size[0] * size[1]:
            whole = self._score.reshape(size)  # no model lacks an item: no memory for a copy
            whole.flags.writeable = False
            return whole
        found = np.empty((len(names), len(self.items)))
        for row, name in enumerate(names):
            item, _, score = self.rows(name)
            found[row] = group_means(item, score, len(self.items))
        return found


def check_clusters(rows: Rows, units: str, cluster: str | None) -> None:
    """Refuse clusters of tasks, and items in several clusters or in none."""
    if cluster is not None:
        if units == "tasks":
            raise ScoreDataError(
                "clusters exist for items only: expected units 'items', found 'tasks'"
            )
        clusters_of_items(rows, cluster)


def clusters_of_items(rows: Rows, cluster: str) -> tuple[tuple[str, ...], IntArray]:
    """Return the clusters in the order of their first row, and the place of each item's cluster."""
    if cluster not in rows:
        found = listed([name for name in rows.names if name not in SPECIAL]) or "none"
        raise ScoreDataError(f"no column {cluster!r} of clusters; found {found}")
    column, task = rows.texts(cluster), rows["task"]
    cluster_of, unlike = np.full(len(task.names), -1), []
    for part in parts_of(len(rows)):
        item, code = task.codes[part], column.codes[part]
        new = (cluster_of[item] < 0) & (code >= 0)
        cluster_of[item[new]] = code[new]
        unlike.append(item[(code >= 0) & (code != cluster_of[item])])
    odd = np.concatenate([*unlike, np.flatnonzero(cluster_of < 0)])
    if odd.size:
        own = column.codes[task.codes == odd[0]]
        found = joined([repr(x) for x in dict.fromkeys(column.names[c] for c in own if c >= 0)])
        found = found or "none"
        where = f"item {task.names[odd[0]]!r}, column {cluster!r}"
        raise ScoreDataError(f"{where}: expected one cluster, found {found}")
    return column.names, cluster_of


def check_inputs(rows: Rows, source: str) -> None:
    """Refuse items that have one name and different texts."""
    if "input_hash" not in rows:
        return
    mark = rows.texts("input_hash")
    known = np.flatnonzero(~mark.missing)
    item, code = rows["task"].codes[known], mark.codes[known]
    one = np.full(len(rows["task"].names), -1)
    one[item] = code
    odd = np.unique(item[code != one[item]])
    if not odd.size:
        return
    own = item == odd[0]
    _, first = np.unique(code[own], return_index=True)
    texts = []
    for row in rows.take(known[own][np.sort(first)[:2]]).records():
        texts.append(f"{str(row.get('input', row['input_hash']))[:60]!r} ({row['algorithm']})")
    raise ScoreDataError(
        f"{source}: item {rows['task'].names[odd[0]]!r}: expected the same input everywhere, found "
        f"{joined(texts)}; {counted(odd.size, 'item')} with different inputs: these are not the "
        "same items"
    )
