"""Agarwal et al. 2021, Atari 100k: aggregates, profile, improvement and what few runs say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import polars as pl

from gnomon.distill.atari.reproduction import Comparison
from gnomon.plot.record import Figure
from gnomon.plot.style import default_settings
from gnomon.report.case_studies.case_study import CaseStudy, How, data_file
from gnomon.scores import ScoreTable, normalize_by, read_scores
from gnomon.stats import compare, estimate, profile

_WHERE = "github.com/evgenii-nikishin/rl_with_resets, discrete_control (commit 502ec52)"
_BASELINES = "github.com/google-research/rliable, its notebook (commit 3ccd9f4)"
#: So many digits of the notebook's output are compared: the rest is the order of summation.
_DIGITS = 10
#: The runs of the paper's case study of an evaluation with few runs.
_FEW = 10


def case_study(how: How) -> CaseStudy:
    """Return the paper's Atari 100k numbers beside ours, and its figures redrawn."""
    runs = _normalised("atari100k_runs.csv")
    resets = read_scores(data_file("scores/atari100k_spr_resets_curves.csv", _WHERE)).last_step()
    printed = pl.read_csv(data_file("scores/atari100k_published.csv", _WHERE))
    return CaseStudy(
        "Agarwal et al. 2021: deep reinforcement learning at the edge of the statistical precipice",
        tuple(_numbers(printed, {"rliable notebook": runs, "primacy-bias README": resets})),
        tuple(_figures(runs, how)),
        (
            "Scores are human-normalised. The figures show the case study of the paper, an "
            f"evaluation with {_FEW} of the 100 runs, with intervals of this package, which hold "
            "their level with few runs; those of the paper (percentile bootstrap) are narrower.",
            "OTRainbow and SimPLe, which the paper's figures also show, are not among the scores.",
        ),
    )


def _normalised(file: str) -> ScoreTable:
    """Return runs on the notebook's scale, whose random and human scores are its own."""
    baselines = pl.read_csv(data_file("scores/atari_baselines.csv", _BASELINES))
    known = baselines.drop_nulls(["random", "human"])
    references = {row["task"]: (row["random"], row["human"]) for row in known.to_dicts()}
    runs = read_scores(data_file(f"scores/{file}", _WHERE))
    return normalize_by(runs, {task: references[task] for task in runs.tasks}, name="random-human")


def _numbers(printed: pl.DataFrame, tables: dict[str, ScoreTable]) -> Iterator[Comparison]:
    for source, algorithm, n_runs, metric, value in printed.iter_rows():
        (found,) = estimate(
            tables[source].select(algorithms=[algorithm]),
            metric,
            method="percentile",
            n_resamples=2,
        )
        if source == "rliable notebook":
            published, ours = (f"{x:.{_DIGITS}g}" for x in (value, found.value))
        else:
            published, ours = (f"{x:.2f}" for x in (value, found.value))
        note = "" if published == ours else "the README's own file of runs gives ours"
        item = f"{algorithm}, {metric} of {n_runs} runs"
        yield Comparison(source, item, published, ours, published == ours, note)


def _figures(runs: ScoreTable, how: How) -> Iterator[Figure]:
    first = runs.to_frame()["run"].cast(pl.Int64) < _FEW
    few = replace(runs, frame=runs.frame.filter(first))
    about: dict[str, Any] = {"rng": how.seed}
    others = [name for name in few.algorithms if name != "SPR"]
    with default_settings():
        yield _named(
            estimate(few, ["median", "iqm", "mean", "optimality_gap"], **about).figure(),
            "aggregates",
            f"Aggregates of {_FEW} runs",
        )
        yield _named(
            profile(few, band="simultaneous", **about).figure(), "profile", "Performance profiles"
        )
        pairs = [compare(few, "SPR", b, "probability_of_improvement", **about) for b in others]
        joined = replace(pairs[0], records=tuple(one for pair in pairs for one in pair))
        yield _named(joined.figure(), "improvement", "Probability that SPR improves")


def _named(figure: Figure, name: str, title: str) -> Figure:
    return replace(figure, name=name, title=title, wide=True)
