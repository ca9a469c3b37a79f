"""Scores that this project has measured itself, and that come with it.

A data set is two files beside this one: ``NAME.parquet``, one row a trial with several scores, and
``NAME.json``, which says how they were made: the experiment, the hash of its config, the versions.
"""

from __future__ import annotations

import hashlib
import io
import json
from importlib import resources
from typing import Any

import polars as pl

from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.scores.table import ScoreTable

__all__ = ["MEASURED", "load_measured", "measured_provenance"]

#: The data sets, each with the sentence that says what it holds.
MEASURED = {
    "gohr-full": "42 learners on the 90 rules of gohr-full-v1, 20 trials each",
    "gohr-core-sb3": "MaskablePPO on the 15 rules of gohr-core-v1, 3 trials",
    "gohr-core-sb3-unmasked": "A2C and DQN, which take no masks, on the same 15 rules, 3 trials",
}


def load_measured(name: str, metric: str | None = None) -> ScoreTable:
    """Return scores that come with this package.

    Parameters
    ----------
    name : str
        One of :data:`MEASURED`.
    metric : str, optional
        ``tce`` (if not given), ``errors_to_learn`` or ``skill``, as
        :mod:`gnomon.experiments.scoring.scores` defines them.

    Returns
    -------
    ScoreTable
        Learners as algorithms, rules as tasks, with the attribute ``kind`` of the learner. A skill
        that does not exist, on a rule under which nobody errs, is a missing run.

    Raises
    ------
    UnknownNameError
        There is no such data set or metric.

    Examples
    --------
    >>> table = load_measured("gohr-full", "skill")
    >>> len(table.algorithms), len(table.tasks), table.higher_is_better
    (42, 90, True)
    """
    about = measured_provenance(name)
    metric = metric or "tce"
    if metric not in about["metrics"]:
        raise UnknownNameError(f"metric of {name}", metric, about["metrics"])
    rows = pl.read_parquet(io.BytesIO(_data(name, about["sha256"])))
    score = pl.col(metric).cast(pl.Float64)
    frame = rows.select(
        pl.col("algorithm", "task").cast(pl.String), "run", score.alias("score"),
        pl.col("kind").cast(pl.String),
    )  # fmt: skip
    if metric == "errors_to_learn":
        censored = pl.col("score").is_null()
        frame = frame.with_columns(pl.col("score").fill_null(float("inf")), censored=censored)
    return ScoreTable.from_frame(
        frame,
        metric=metric,
        unit=about["metrics"][metric]["unit"],
        higher_is_better=about["metrics"][metric]["higher_is_better"],
        provenance=(
            f"{name}: experiment {about['experiment']}, config {about['config_hash'][:16]}, "
            f"gnomon {about['gnomon']}",
        ),
    )


def measured_provenance(name: str) -> dict[str, Any]:
    """Return how a data set was made: experiment, config hash, versions, metrics, learners.

    Raises
    ------
    UnknownNameError
        There is no such data set.

    Examples
    --------
    >>> measured_provenance("gohr-full")["experiment"]
    'gohr-full-results'
    """
    if name not in MEASURED:
        raise UnknownNameError("data set", name, MEASURED)
    text = (_folder() / f"{name}.json").read_text(encoding="utf-8")
    about: dict[str, Any] = json.loads(text)
    return about


def _data(name: str, sha256: str) -> bytes:
    data = (_folder() / f"{name}.parquet").read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise ScoreDataError(f"{name}: expected sha256 {sha256[:12]}..., found {found[:12]}...")
    return data


def _folder() -> resources.abc.Traversable:
    return resources.files("gnomon.scores") / "measured_data"
