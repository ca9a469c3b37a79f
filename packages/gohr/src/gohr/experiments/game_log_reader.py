"""Result files and transcripts of the captive game server as tables of scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.errors import ScoreDataError, UnknownNameError
from gohr.experiments.scoring.trial_scores import METRICS
from gohr.game.captive_log import read_runs

if TYPE_CHECKING:
    from gnomon import ScoreTable


def read_game_log(path: str | Path, metric: str = "tce") -> ScoreTable:
    r"""Read a result file or a transcript as a table of scores.

    Such files omit attempts on empty cells and do not distinguish a stalemate from an episode that
    was given up. The table has a row a run; a score per episode has the column ``step``.

    Raises ScoreDataError: the file has none of these formats, or a field is invalid; the message
    names file, row (line of the file) and field. Raises UnknownNameError: the metric does not
    exist.
    """
    import polars as pl

    from gnomon import ScoreTable

    if metric not in METRICS:
        raise UnknownNameError("metric", metric, METRICS)
    chosen = METRICS[metric]
    rows: list[dict[str, Any]] = []
    for run in read_runs(path):
        finish = np.array(run.cleared, dtype=np.int8)
        value = chosen.compute(np.array(run.errors, dtype=np.int64), finish)
        key = {"algorithm": run.player, "task": run.rule, "run": run.run}
        if isinstance(value, np.ndarray):
            rows += [key | {"step": i, "score": x} for i, x in enumerate(value.tolist(), 1)]
        else:
            rows.append(key | {"score": value})
    if not rows:
        raise ScoreDataError(f"{path}: expected at least one episode; found none")
    frame = pl.DataFrame(rows)
    if frame["score"].is_infinite().any():
        frame = frame.with_columns(pl.col("score").is_infinite().alias("censored"))
    return ScoreTable.from_frame(
        frame,
        metric=metric,
        unit=chosen.unit,
        higher_is_better=chosen.higher_is_better,
        provenance=(
            f"read from {Path(path).name}",
            "attempts on empty cells left out, as the captive server does",
        ),
    )
