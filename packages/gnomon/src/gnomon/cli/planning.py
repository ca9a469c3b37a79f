"""``gnomon plan``: how many runs or items it takes."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.options import Gamma, Level, ScoreOptions, Seed, ShowOptions, with_groups
from gnomon.cli.sources import Pair, SourcesAndPair, sources_and_pair


@with_groups
def plan(
    sources: SourcesAndPair,
    pair: Pair = None,
    metric: Annotated[list[str] | None, typer.Option(help="A metric; repeatable.")] = None,
    runs: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Runs per task (or epochs of items) to try; repeatable."),
    ] = None,
    items: Annotated[
        list[int] | None, typer.Option(min=2, help="Numbers of items to try; repeatable.")
    ] = None,
    power: Annotated[float, typer.Option(min=0, max=1, help="Power to reach.")] = 0.8,
    way: Annotated[
        Literal["power", "widths", "sequential"],
        typer.Option(
            help="Power of studies, widths of intervals, or looks after each number of runs."
        ),
    ] = "power",
    level: Level = 0.95,
    seed: Seed = 0,
    gamma: Gamma = None,
    *,
    scores: ScoreOptions,
    showing: ShowOptions,
    as_json: JsonOption = False,
) -> None:
    """Estimate how many runs or items are needed to find a difference.

    Example:
      gnomon plan scores.csv ppo dqn
      gnomon plan scores.csv --way widths
    """
    from gnomon.stats import plan as planned

    with answering("plan", as_json=as_json) as answer:
        source, named = sources_and_pair(sources, pair, scores.algorithms_of)
        a, b = named or (None, None)
        table = scores.last(source)
        found = planned(
            table,
            a,
            b,
            metric,
            way=way,
            runs=runs,
            items=items,
            power=power,
            level=level,
            gamma=gamma,
            rng=seed,
        )
        answer.show(found, **vars(showing))
