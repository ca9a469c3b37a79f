"""``gnomon plan``: how many runs are needed, and what fewer would have said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gnomon.cli.answer import Answer, JsonOption, answering
from gnomon.cli.comparisons import First, Second, chosen_pair
from gnomon.cli.option_groups import with_groups
from gnomon.cli.score_options import (
    Gamma,
    Level,
    NormalizedScores,
    ReadOptions,
    Seed,
    ShowOptions,
    Source,
)
from gnomon.errors import ScoreDataError

if TYPE_CHECKING:
    import numpy as np

    from gnomon.plot.record import Figure
    from gnomon.scores.table import ScoreTable
    from gnomon.stats.power import PowerPoint

__all__ = ["plan"]


@with_groups
def plan(
    source: Source,
    a: First = None,
    b: Second = None,
    metric: Annotated[list[str] | None, typer.Option(help="A metric; repeatable.")] = None,
    runs: Annotated[
        list[int] | None, typer.Option(min=1, help="Runs per task to try; repeatable.")
    ] = None,
    power: Annotated[float, typer.Option(min=0, max=1, help="Power to reach.")] = 0.8,
    widths: Annotated[
        bool, typer.Option("--widths", help="How wide intervals would be, to halve one.")
    ] = False,
    subsample: Annotated[
        bool, typer.Option("--subsample", help="What fewer of these runs would have said.")
    ] = False,
    sequential: Annotated[
        bool, typer.Option("--sequential", help="Look after each number of runs; stop if decided.")
    ] = False,
    simulations: Annotated[int, typer.Option(min=2, help="Simulated studies, or draws.")] = 400,
    method: Annotated[
        Literal["auto", "small_sample"], typer.Option(help="How a study is tested.")
    ] = "auto",
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
    import numpy as np

    if widths + subsample + sequential > 1:
        raise typer.BadParameter("expected one of --widths, --subsample and --sequential")
    with answering("plan", as_json=as_json) as answer:
        table = scores.last(source, reading)
        pair = chosen_pair(table, a, b)
        if pair is not None and not sequential:
            table = table.select(algorithms=pair)
        wanted = _Plan(metric, sorted(set(runs or ())), power, simulations, level, gamma)
        rng = np.random.default_rng(seed)
        if sequential:
            _answer_sequential(answer, table, pair, wanted, rng, showing)
        elif subsample:
            _answer_subsamples(answer, table, wanted, rng, showing)
        elif widths:
            _answer_widths(answer, table, wanted, rng, showing)
        else:
            _answer_power(answer, table, wanted, rng, showing)


@dataclass(frozen=True)
class _Plan:
    """What is to be simulated."""

    metrics: Sequence[str] | None
    runs: Sequence[int]
    power: float
    simulations: int
    level: float
    gamma: float | None


def _answer_power(
    answer: Answer,
    table: ScoreTable,
    plan: _Plan,
    rng: np.random.Generator,
    showing: ShowOptions,
) -> None:
    """Answer with the power to tell each pair apart, and the runs that reach the one wanted."""
    from gnomon.stats.power import power_curve, runs_needed

    options: dict[str, Any] = {
        "level": plan.level,
        "n_simulations": plan.simulations,
        "gamma": plan.gamma,
    }
    if len(table.algorithms) < 2:
        raise ScoreDataError(f"expected two algorithms or more, found {table.algorithms[0]} alone")
    points: list[PowerPoint] = []
    for metric in plan.metrics or ["iqm"]:
        for pair in combinations(table.algorithms, 2):
            runs = plan.runs or (3, 5, 10, 20, 40)
            own = power_curve(table, *pair, metric, runs=runs, rng=rng, **options)
            points += own
            needed = runs_needed(own, plan.power)
            many = f"{needed} runs" if needed else f"more than {runs[-1]} runs"
            answer.say(f"{pair[0]}, {pair[1]} ({metric}): power {plan.power:g} takes {many}")

    def draw() -> Figure:
        from gnomon.plot.statistics import power_figure

        return power_figure(points, plan.power)

    showing.show(answer, [one.as_record() for one in points], draw=draw)


def _answer_subsamples(
    answer: Answer,
    table: ScoreTable,
    plan: _Plan,
    rng: np.random.Generator,
    showing: ShowOptions,
) -> None:
    """Answer with what metrics would have been with fewer runs."""
    from gnomon.stats.subsampling import subsample_table

    found = [
        one
        for metric in plan.metrics or ["median"]
        for one in subsample_table(
            table,
            metric,
            runs=plan.runs or None,
            n_draws=plan.simulations,
            gamma=plan.gamma,
            rng=rng,
        )
    ]

    def draw() -> Figure:
        from gnomon.plot.statistics import subsample_figure

        return subsample_figure(found, table.scale)

    title = "value: of all runs; the rest: of draws with fewer"
    showing.show(answer, [one.as_record() for one in found], title=title, draw=draw)


def _answer_widths(
    answer: Answer,
    table: ScoreTable,
    plan: _Plan,
    rng: np.random.Generator,
    showing: ShowOptions,
) -> None:
    """Answer with the mean width of intervals, and the runs that halve the pilot's."""
    from gnomon.stats.power import interval_widths
    from gnomon.stats.strata import Strata

    if showing.figure is not None:
        raise typer.BadParameter("--widths has no figure")
    records = []
    for algorithm in table.algorithms:
        pilot = Strata.from_table(table, algorithm)
        now = int(pilot.counts.min())
        runs = sorted({now, *(plan.runs or (2 * now, 3 * now, 4 * now, 6 * now))})
        for metric in plan.metrics or ["iqm"]:
            try:
                found = interval_widths(
                    pilot,
                    metric,
                    runs=runs,
                    level=plan.level,
                    gamma=plan.gamma,
                    higher_is_better=table.higher_is_better,
                    n_simulations=plan.simulations,
                    rng=rng,
                )
            except ScoreDataError as error:
                raise ScoreDataError(f"{algorithm}: {error}") from None
            if found[now] == 0.0:
                answer.warn(f"{metric} of {algorithm}: the pilot's interval has no width to halve")
            records += [
                {
                    "algorithm": algorithm,
                    "metric": metric,
                    "runs": n,
                    "width": width,
                    "relative_width": width / found[now] if found[now] else None,
                }
                for n, width in found.items()
            ]
    showing.show(answer, records)


def _answer_sequential(
    answer: Answer,
    table: ScoreTable,
    pair: tuple[str, str] | None,
    plan: _Plan,
    rng: np.random.Generator,
    showing: ShowOptions,
) -> None:
    """Answer with the comparison at the look that decided, or at the last one."""
    from gnomon.stats.planning import sequential_compare

    if pair is None or len(plan.runs) < 2 or showing.figure is not None:
        raise typer.BadParameter(
            "--sequential needs two algorithms and --runs at least twice, and has no figure"
        )
    records = []
    for metric in plan.metrics or ["iqm"]:
        found = sequential_compare(
            table, *pair, metric, looks=plan.runs, level=plan.level, gamma=plan.gamma, rng=rng
        )
        names = ("a", "b", "metric", "value", "low", "high", "p_value", "level")
        record = found.comparison.as_record()
        own = {name: record[name] for name in names}
        records.append(own | {"decided": found.decided, "runs": found.runs})
    showing.show(answer, records)
