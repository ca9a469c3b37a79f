"""What trials and attempts of a run took of language models, as tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import polars as pl

from gnomon.experiments.config.experiment_config import ExperimentConfig
from gnomon.experiments.trial import trials_of
from gnomon.learners.language_model.exchanges import EXCHANGES, spending_of


def spending_of_trials(folder: Path, config: ExperimentConfig) -> pl.DataFrame:
    """Return what each trial took, by learner, rule and trial; empty if nothing was."""
    spent = spent_by("trial", folder)
    if spent is None:
        return pl.DataFrame()
    trials = [(x.key, x.learner.name, x.rule.name, x.number) for x in trials_of(config)]
    schema = {"key": pl.String, "learner": pl.String, "rule": pl.String, "trial": pl.Int32}
    named = pl.DataFrame(trials, schema=schema, orient="row")
    return named.join(spent, on="key", maintain_order="left").drop("key")


def spent_by(what: Literal["trial", "attempt"], folder: Path) -> pl.DataFrame | None:
    """Return what each trial or attempt took, with the key of the trial; None if nothing was."""
    path = folder / EXCHANGES
    if not path.is_file():
        return None
    names, rows = spending_of(path, what)
    kinds: dict[str, Any] = {
        name: pl.Float64 if name in ("asking_s", "cost") else pl.Int64 for name in names
    }
    kinds |= {"trial": pl.String} | {x: pl.Int32 for x in ("episode", "attempt") if x in names}
    return pl.DataFrame(rows, schema=kinds, orient="row").rename({"trial": "key"})


def with_spending(rows: pl.DataFrame, spent: pl.DataFrame | None, key: str) -> pl.DataFrame:
    """Return the rows of a trial beside what each attempt took, if that is known."""
    if spent is None:
        return rows
    own = spent.filter(pl.col("key") == key).drop("key", "n_statement")
    return rows.join(own, on=["episode", "attempt"], how="left", maintain_order="left")
