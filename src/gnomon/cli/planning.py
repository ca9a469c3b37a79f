"""``gnomon plan``: how many runs or items it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.options import (
    Gamma,
    Level,
    NormalizedScores,
    ReadOptions,
    Seed,
    ShowOptions,
    with_groups,
)
from gnomon.cli.sources import Pair, SourcesAndPair, sources_and_pair
from gnomon.errors import GnomonError

if TYPE_CHECKING:
    from gnomon.scores.table import ScoreTable
    from gnomon.stats.planning.participants import StudyPowers


@dataclass(frozen=True)
class StudyOptions:
    """A study of two conditions, with participants and rules."""

    ratio: Annotated[
        float, typer.Option(help="Of participants: errors in one condition over the other's.")
    ] = 0.7
    participants: Annotated[
        list[int] | None,
        typer.Option(min=4, help="Of participants: how many in all to try; repeatable."),
    ] = None
    n_rules: Annotated[
        list[int] | None,
        typer.Option("--n-rules", min=1, help="Of participants: rules each plays; repeatable."),
    ] = None
    within: Annotated[
        bool, typer.Option("--within", help="Of participants: both conditions in each of them.")
    ] = False
    random_rules: Annotated[
        bool, typer.Option("--random-rules", help="Of participants: speak of rules not tried, too.")
    ] = False
    effect_sd: Annotated[
        float, typer.Option(min=0, help="Of participants: spread of the log ratio over rules.")
    ] = 0.0

    def powers(
        self,
        pilot: ScoreTable,
        goal: float,
        simulations: int,
        level: float,
        seed: int,
        progress: Callable[[int, int], object],
    ) -> StudyPowers:
        """Return the power of each size."""
        from gnomon.stats.planning.participants import plan_participants

        return plan_participants(
            pilot,
            ratio=self.ratio,
            participants=self.participants or (10, 20, 40, 80),
            rules=self.n_rules or (2, 4, 8),
            within=self.within,
            random_rules=self.random_rules,
            effect_sd=self.effect_sd,
            goal=goal,
            n_simulations=simulations,
            level=level,
            rng=seed,
            progress=progress,
        )


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
        Literal["power", "widths", "subsample", "sequential", "participants"],
        typer.Option(
            help="Power of studies, widths of intervals, what fewer of these runs would have said, "
            "a look after each number of runs, or power with participants and rules."
        ),
    ] = "power",
    simulations: Annotated[int, typer.Option(min=2, help="Simulated studies, or draws.")] = 400,
    level: Level = 0.95,
    seed: Seed = 0,
    gamma: Gamma = None,
    *,
    study: StudyOptions,
    scores: NormalizedScores,
    reading: ReadOptions,
    showing: ShowOptions,
    as_json: JsonOption = False,
) -> None:
    """Say how many runs are needed to tell algorithms apart, or what fewer would have said."""
    from gnomon.cli.progress import progress_bar
    from gnomon.stats import plan as planned

    with answering("plan", as_json=as_json) as answer:
        if way == "participants":
            pilot = scores.last(sources, reading)
            with progress_bar("planning") as progress:
                answer.show(
                    study.powers(pilot, power, simulations, level, seed, progress), **vars(showing)
                )
            return
        if study != StudyOptions():
            raise GnomonError("--ratio, --participants and their like need --way participants")
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
