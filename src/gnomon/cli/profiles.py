"""``gnomon profile``: what share of runs, or of tasks, gets past each threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gnomon.cli.answer import Answer, JsonOption, answering
from gnomon.cli.option_groups import with_groups
from gnomon.cli.score_options import (
    Level,
    NormalizedScores,
    Only,
    ReadOptions,
    Resamples,
    Seed,
    ShowOptions,
    Source,
    conditions,
    is_summary,
)

if TYPE_CHECKING:
    import numpy as np

    from gnomon.plot.record import Figure
    from gnomon.scores.readers.summaries import SummaryTable
    from gnomon.scores.table import ScoreTable
    from gnomon.stats.profiles.performance import Profile

__all__ = ["profile"]

Kind = Literal["run_score", "average_score", "ratio", "likelihood", "permutation"]
Band = Literal["pointwise", "simultaneous", "none"]


@with_groups
def profile(
    source: Source,
    kind: Annotated[
        Kind, typer.Option("--kind", "--metric", help="Which share is shown.")
    ] = "run_score",
    tau: Annotated[list[float] | None, typer.Option(help="A threshold; repeatable.")] = None,
    spacing: Annotated[
        Literal["linear", "log", "data"], typer.Option(help="Thresholds, if none is given.")
    ] = "linear",
    band: Annotated[
        Band, typer.Option("--band", "--method", help="At each threshold, or for the whole curve.")
    ] = "pointwise",
    df: Annotated[
        Literal["welch", "as_published"],
        typer.Option(help="Degrees of freedom of a likelihood profile."),
    ] = "welch",
    algorithm: Only = None,
    keep_apart: Annotated[
        str | None, typer.Option(help="Column of a summary table that makes algorithms differ.")
    ] = None,
    level: Level = 0.95,
    resamples: Resamples = 2000,
    seed: Seed = 0,
    *,
    scores: NormalizedScores,
    reading: ReadOptions,
    showing: ShowOptions,
    as_json: JsonOption = False,
) -> None:
    """Show what share of runs, or of tasks, gets past each threshold."""
    import numpy as np

    rng = np.random.default_rng(seed)
    with answering("profile", as_json=as_json) as answer:
        data: ScoreTable | SummaryTable
        if kind in ("ratio", "likelihood") and is_summary(source):
            data = _summaries(source, reading.where, keep_apart, algorithm)
            higher, scale = not reading.lower_is_better, ""
        else:
            data = table = scores.last(source, reading, algorithm)
            higher, scale = table.higher_is_better, table.scale
        options = {"band": band, "level": level, "n_resamples": resamples, "spacing": spacing}
        found = _profiles(data, kind, sorted(tau) if tau else None, df, higher, options, rng)

        def draw() -> Figure:
            from gnomon.plot.statistics import profile_figure

            return profile_figure(found, scale, higher_is_better=higher)

        if kind not in ("run_score", "average_score") and (as_json or tau):
            answer.warn(f"profiles of kind {kind} have no band: low and high are empty")
        _name_flat_bands(answer, found)
        records = [record for one in found for record in one.as_records()]
        shown = records if tau else [_readings(one) for one in found]
        title = None if tau else "area, and thresholds of shares"
        showing.show(answer, records, shown, title=title, draw=draw)


def _name_flat_bands(answer: Answer, profiles: Sequence[Profile]) -> None:
    """Say where bands have no width: resamples show no other runs than those at hand."""
    flat = ", ".join(f"{one.n_flat()} of {one.algorithm}" for one in profiles if one.n_flat())
    if flat:
        n = profiles[0].tau.size
        answer.warn(
            f"the band has no width where no threshold parts the runs of a task ({flat}, of {n} "
            "thresholds), which is no certainty"
        )


def _readings(one: Profile) -> dict[str, Any]:
    """Return what people read off a profile."""
    from gnomon.stats.estimates import finite_or_none

    shares = {f"{share:.0%}": one.quantile(share) for share in (0.75, 0.5, 0.25)}
    if one.kind in ("ratio", "likelihood", "permutation"):
        # These profiles rise: the first threshold within which a share of the tasks is.
        shares = {f"{s:.0%}": one.first_reaching(s) for s in (0.25, 0.5, 0.75)}
    numbers = {name: finite_or_none(value) for name, value in shares.items()}
    return {"algorithm": one.algorithm, "kind": one.kind, "area": one.area()} | numbers


def _summaries(
    source: Path, where: list[str] | None, keep_apart: str | None, algorithms: list[str] | None
) -> SummaryTable:
    from gnomon.scores.readers.summaries import read_summaries

    found = read_summaries(source, where=conditions(where), keep_apart=keep_apart)
    return found if algorithms is None else found.select(algorithms)


def _profiles(
    scores: ScoreTable | SummaryTable,
    kind: Kind,
    tau: Sequence[float] | None,
    df: Literal["welch", "as_published"],
    higher: bool,
    options: Mapping[str, Any],
    rng: np.random.Generator,
) -> list[Profile]:
    from gnomon.scores.table import ScoreTable

    if kind == "ratio" or kind == "likelihood" or kind == "permutation":
        from gnomon.stats.profiles.distance import distance_profiles

        return distance_profiles(scores, kind, tau, df=df, higher_is_better=higher, rng=rng)
    from gnomon.stats.profiles.performance import performance_profiles

    assert isinstance(scores, ScoreTable), "summaries are read for distances alone"
    return performance_profiles(scores, tau, kind=kind, rng=rng, **options)
