"""The verbs of how many runs or items it takes, and how single runs spread: ``gnomon plan``, ..."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.options import (
    Gamma,
    Level,
    NormalizedScores,
    Only,
    ReadOptions,
    Seed,
    ShowOptions,
    Source,
    settings_of,
    with_groups,
)
from gnomon.cli.sources import Pair, Sources, SourcesAndPair, sources_and_pair


@with_groups
def plan(
    sources: SourcesAndPair,
    pair: Pair = None,
    metric: Annotated[list[str] | None, typer.Option(help="A metric; repeatable.")] = None,
    runs: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Runs per task to try, or epochs of items; repeatable."),
    ] = None,
    items: Annotated[
        list[int] | None, typer.Option(min=2, help="Of items, how many to try; repeatable.")
    ] = None,
    power: Annotated[float, typer.Option(min=0, max=1, help="Power to reach.")] = 0.8,
    way: Annotated[
        Literal["power", "widths", "subsample", "sequential"],
        typer.Option(
            help="Power of studies, widths of intervals, what fewer of these runs would have said, "
            "or a look after each number of runs."
        ),
    ] = "power",
    simulations: Annotated[int, typer.Option(min=2, help="Simulated studies, or draws.")] = 400,
    level: Level = 0.95,
    seed: Seed = 0,
    gamma: Gamma = None,
    *,
    scores: NormalizedScores,
    reading: ReadOptions,
    showing: ShowOptions,
    as_json: JsonOption = False,
) -> None:
    """Say how many runs are needed to tell algorithms apart, or what fewer would have said."""
    from gnomon.cli.progress import progress_bar
    from gnomon.stats import plan as planned

    with answering("plan", as_json=as_json) as answer:
        source, named = sources_and_pair(sources, pair, scores.algorithms_by(reading))
        a, b = named or (None, None)
        table = scores.last(source, reading)
        with progress_bar("planning") as progress:
            found = planned(
                table,
                a,
                b,
                metric,
                way=way,
                runs=runs,
                items=items,
                power=power,
                n_simulations=simulations,
                level=level,
                gamma=gamma,
                rng=seed,
                progress=progress,
            )
        answer.show(found, **vars(showing))


@with_groups
def tolerance(
    source: Sources,
    share: Annotated[float, typer.Option(help="Share of all runs to hold.")] = 0.9,
    side: Annotated[
        Literal["two-sided", "lower", "upper"], typer.Option(help="Which ends are wanted.")
    ] = "two-sided",
    method: Annotated[
        Literal["order", "normal"],
        typer.Option(help="By order statistics, or by mean and deviation for normal scores."),
    ] = "order",
    algorithm: Only = None,
    level: Level = 0.95,
    *,
    scores: NormalizedScores,
    reading: ReadOptions,
    showing: ShowOptions,
    as_json: JsonOption = False,
) -> None:
    """Say between which scores a share of single runs lies."""
    from gnomon.stats import tolerance as tolerances

    with answering("tolerance", as_json=as_json) as answer:
        table = scores.last(source, reading, algorithm)
        found = tolerances(table, share=share, level=level, side=side, method=method)
        answer.show(found, **vars(showing))


@with_groups
def sensitivity(
    source: Source,
    setting: Annotated[
        list[str] | None, typer.Option(help="A column that is a hyper-parameter; repeatable.")
    ] = None,
    learner: Annotated[
        str, typer.Option(help="The column that tells learners apart, if there are several.")
    ] = "learner",
    share: Annotated[float, typer.Option(help="Share of the peak to reach by tuning.")] = 0.95,
    resamples: Annotated[int, typer.Option(min=1, help="Draws of runs to hold out.")] = 500,
    algorithm: Only = None,
    level: Level = 0.95,
    seed: Seed = 0,
    *,
    scores: NormalizedScores,
    reading: ReadOptions,
    showing: ShowOptions,
    as_json: JsonOption = False,
) -> None:
    """Say how learners depend on their hyper-parameters, and how lucky the best setting is."""
    from gnomon.stats import sensitivity as sensitivities

    with answering("sensitivity", as_json=as_json) as answer:
        table = scores.last(source, reading, algorithm)
        found = sensitivities(
            table,
            setting or settings_of(source),
            learner=learner,
            share=share,
            level=level,
            n_resamples=resamples,
            rng=seed,
        )
        answer.show(found, **vars(showing))
