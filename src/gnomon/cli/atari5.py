"""``gnomon atari5``: score, cost, models and reproduction of the Atari-5 paper."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.distill import Names
from gnomon.cli.options import Where, conditions
from gnomon.cli.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Mapping

atari5 = typer.Typer(no_args_is_help=True, help="Atari-5: score, cost, models, reproduction.")


@atari5.command()
def score(
    source: Annotated[
        Path | None, typer.Argument(help="A file of raw scores; its tasks are games.")
    ] = None,
    game: Annotated[
        Names, typer.Option(help='"Battle Zone=32000": one raw score; repeatable.')
    ] = None,
    predict: Annotated[
        bool, typer.Option("--predict", help="Also estimate all other games from the subset.")
    ] = False,
    where: Where = None,
    as_json: JsonOption = False,
) -> None:
    """Give the Atari-5 score of an agent from its raw scores, beside published ones."""
    from gnomon.distill import atari

    with answering("atari5 score", as_json=as_json) as answer:
        agents = _agents(source, game, where)
        answer.show(atari.score(agents))
        if predict:
            answer.show(atari.games(agents))


@atari5.command()
def cost(
    games: Annotated[int, typer.Option(min=1, help="Number of games.")] = 57,
    hours: Annotated[
        float | None, typer.Option(min=0, help="Accelerator hours a game, of an agent of your own.")
    ] = None,
    frames: Annotated[
        float | None, typer.Option(min=0, help="Frames a game, with --frames-per-second.")
    ] = None,
    frames_per_second: Annotated[float, typer.Option(min=0, help="Speed of training.")] = 1000.0,
    price: Annotated[float, typer.Option(min=0, help="US dollars an hour.")] = 2.614,
    preemptive_price: Annotated[
        float | None, typer.Option(min=0, help="US dollars an hour, preemptive.")
    ] = None,
    watts: Annotated[float | None, typer.Option(min=0, help="Power of the machine.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Estimate what a run on so many games costs: hours, dollars, power and carbon."""
    from gnomon.distill import atari

    with answering("atari5 cost", as_json=as_json) as answer:
        found = atari.cost(
            games,
            hours=hours,
            frames=frames,
            frames_per_second=frames_per_second,
            price=price,
            preemptive_price=preemptive_price,
            watts=watts,
        )
        answer.show(found)


@atari5.command()
def models(as_json: JsonOption = False) -> None:
    """List the published models, and the subsets that other papers used."""
    from gnomon.distill import atari

    with answering("atari5 models", as_json=as_json) as answer:
        answer.show(atari.models())


@atari5.command()
def subsets(as_json: JsonOption = False) -> None:
    """Say how well each named subset predicts the median, by the paper's method."""
    from gnomon.distill import atari

    with answering("atari5 subsets", as_json=as_json) as answer:
        answer.show(atari.subsets())


@atari5.command("case-study")
def case_study(
    source: Annotated[Path, typer.Argument(help="CSV of algorithm, median, atari5.")],
    baseline: Annotated[str | None, typer.Option(help="Rescale to this algorithm.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Say what a paper would have found with Atari-5: errors, inversions, and relative to one."""
    from gnomon.distill import atari

    with answering("atari5 case-study", as_json=as_json) as answer:
        from gnomon.scores.readers.named_numbers import named_numbers

        numbers = named_numbers(source, "algorithm", ("median", "atari5"))
        medians, estimates = zip(*numbers.values(), strict=True)
        answer.show(atari.case_study([*numbers], medians, estimates, baseline=baseline))


@atari5.command()
def reproduce(
    only: Annotated[str | None, typer.Option(help="One part, for example table9.")] = None,
    differing: Annotated[
        bool, typer.Option("--differing", help="Show only what is not equal.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Print every published value of the Atari-5 paper beside ours."""
    from gnomon.distill import atari

    with answering("atari5 reproduce", as_json=as_json) as answer:
        with progress_bar("parts of the paper") as progress:
            found = atari.reproduce(only, differing=differing, progress=progress)
        answer.show(found)
        for note in () if found else found.notes:  # Nothing differs: no table, but a count.
            answer.say(note)


def _agents(source: Path | None, game: Names, where: Names) -> Mapping[str, Mapping[str, float]]:
    """Return the raw scores of each agent by game, of a file and of options."""
    agents: dict[str, Mapping[str, float]] = {}
    if source is not None:
        from gnomon.distill.atari.agent_scores import raw_scores
        from gnomon.scores import read_scores

        agents |= raw_scores(read_scores(source, where=conditions(where)))
    if game:
        own = dict(map(_raw_score, game))
        agents["agent"] = {**agents.get("agent", {}), **own}
    if not agents:
        raise typer.BadParameter("expected a file of scores, or --game GAME=SCORE")
    return agents


def _raw_score(text: str) -> tuple[str, float]:
    """Return a game and its raw score, from ``GAME=SCORE``."""
    name, _, value = text.rpartition("=")
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not (name and math.isfinite(number)):
        raise typer.BadParameter(f"expected GAME=SCORE, found {text!r}", param_hint="--game")
    return name, number
