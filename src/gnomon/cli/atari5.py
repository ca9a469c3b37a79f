"""``gnomon atari5``: score, cost, models and reproduction of the Atari-5 paper."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.long_search import progress_bar
from gnomon.cli.named_numbers import named_numbers
from gnomon.cli.score_options import Where, conditions
from gnomon.cli.suite_scores import Names
from gnomon.errors import ScoreDataError, UnknownNameError

__all__ = ["atari5"]

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
    from gnomon.distill.atari.facts import (
        ADVICE,
        atari_scores,
        published_models,
        published_table,
    )

    with answering("atari5 score", as_json=as_json) as answer:
        agents = _agents(source, game, where)
        found = [s for name, raw in agents.items() for s in atari_scores(raw, algorithm=name)]
        if not found:
            needed = ", ".join(published_models()["Atari-5"].tasks)
            raise ScoreDataError(f"expected scores on the games of a published set: {needed}")
        answer.records([asdict(s) for s in found], ["algorithm", "model", "value", "games"])
        if predict:
            answer.records(_all_games(agents), ["algorithm", "model", "game", "value", "raw"])
        for row in published_table("table3"):
            answer.say(f"published: {row['algorithm']:12} Atari-5 {row['atari5']}")
        for sentence in ADVICE:
            answer.say(sentence)


def _all_games(agents: dict[str, dict[str, float]]) -> list[dict[str, Any]]:
    """Return estimates of all games that an agent has no score on."""
    from gnomon.distill.atari.facts import game_models, human_normalized, published_constants

    records = []
    for name, raw in agents.items():
        normalized = human_normalized(raw)
        sets = [m for m in ("Atari-10", "Atari-5") if set(_tasks(m)) <= set(normalized)]
        for game, model in game_models(sets[0]).items() if sets else ():
            if game not in normalized:
                value = model.estimate(normalized).value
                random, human = published_constants()[game]
                score = random + value / 100 * (human - random)
                records.append(
                    {
                        "algorithm": name,
                        "model": sets[0],
                        "game": game,
                        "value": value,
                        "raw": score,
                    }
                )
    return records


def _tasks(name: str) -> tuple[str, ...]:
    from gnomon.distill.atari.facts import published_models

    return published_models()[name].tasks


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
    from gnomon.distill.atari.cost import Machine, run_cost
    from gnomon.distill.atari.facts import PUBLISHED_COSTS

    with answering("atari5 cost", as_json=as_json) as answer:
        costs = [run_cost(name, machine, h, games) for name, machine, h in PUBLISHED_COSTS]
        if frames is not None:
            if not frames_per_second:
                raise typer.BadParameter("expected --frames-per-second above 0")
            hours = frames / frames_per_second / 3600
        if hours is not None:
            cheap = price if preemptive_price is None else preemptive_price
            machine = Machine("own", price, cheap, float("nan") if watts is None else watts)
            costs.append(run_cost("own", machine, hours, games))
        answer.records([asdict(c) for c in costs])
        answer.say("One run each, without tuning; carbon at 0.92 pounds a kWh (USA, 2019).")


@atari5.command()
def models(as_json: JsonOption = False) -> None:
    """List the published models, and the subsets that other papers used."""
    from gnomon.distill.atari.facts import NAMED_SUBSETS, published_models

    with answering("atari5 models", as_json=as_json) as answer:
        rows: list[dict[str, Any]] = [
            {"name": name, "games": list(m.tasks), "weights": list(m.weights), "source": m.source}
            for name, m in published_models().items()
        ]
        source = "arXiv 2210.02019, table 7"
        rows += [
            {"name": name, "games": list(games), "weights": None, "source": source}
            for name, games in NAMED_SUBSETS.items()
        ]
        answer.records(rows)


@atari5.command()
def subsets(as_json: JsonOption = False) -> None:
    """Say how well each named subset predicts the median, by the paper's method."""
    from gnomon.distill.atari.facts import NAMED_SUBSETS, published_models
    from gnomon.distill.atari.paper_models import paper_scores
    from gnomon.distill.procedures.least_squares import PaperProcedure
    from gnomon.distill.validation import cross_validate

    with answering("atari5 subsets", as_json=as_json) as answer:
        data, paper = paper_scores(), PaperProcedure()
        named = {name: m.tasks for name, m in published_models().items()} | dict(NAMED_SUBSETS)
        rows = []
        for name, games in named.items():
            held = cross_validate(data, paper, games)
            errors = {"r2": held.fold_r2, "relative_error": held.fold_relative_error}
            rows.append({"name": name, "games": list(games), **errors, "n_rows": held.n_predicted})
        answer.records(rows)


@atari5.command("case-study")
def case_study_(
    source: Annotated[Path, typer.Argument(help="CSV of algorithm, median, atari5.")],
    baseline: Annotated[str | None, typer.Option(help="Rescale to this algorithm.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Say what a paper would have found with Atari-5: errors, inversions, and relative to one."""
    from gnomon.distill.atari.case_study import case_study

    with answering("atari5 case-study", as_json=as_json) as answer:
        columns = named_numbers(source, "algorithm", ("median", "atari5"))
        names = list(columns)
        if baseline is not None and baseline not in names:
            raise UnknownNameError("algorithm", baseline, names)
        pairs = list(columns.values())
        study = case_study(names, [p[0] for p in pairs], [p[1] for p in pairs], baseline=baseline)
        rows = [asdict(a) | {"scale": "raw"} for a in study.algorithms]
        answer.records(rows + [asdict(a) | {"scale": study.baseline} for a in study.rescaled])
        swapped = ", ".join(f"{a} and {b}" for a, b in study.inversions) or "none"
        answer.say(f"mean error {100 * study.mean_error:.1f} %; inversions: {swapped}")
        answer.say(
            f"relative to {study.baseline}: mean error {100 * study.mean_rescaled_error:.1f} %"
        )


@atari5.command()
def reproduce(
    only: Annotated[str | None, typer.Option(help="One part, for example table9.")] = None,
    differing: Annotated[
        bool, typer.Option("--differing", help="Show only what is not equal.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Print every published value of the Atari-5 paper beside ours."""
    from gnomon.distill.atari.reproduction import SECTIONS
    from gnomon.distill.atari.reproduction import reproduce as compare

    if only is not None and only not in SECTIONS:
        raise UnknownNameError("part of the paper", only, SECTIONS)
    with answering("atari5 reproduce", as_json=as_json) as answer:
        with progress_bar("parts of the paper") as progress:
            found = list(compare(only, progress=progress))
        shown = [c for c in found if not (differing and c.equal)]
        answer.records([asdict(c) for c in shown])
        counts = {value: sum(c.equal is value for c in found) for value in (True, False, None)}
        answer.say(
            f"{counts[True]} equal, {counts[False]} not equal, {counts[None]} not computable here"
        )


def _agents(source: Path | None, game: Names, where: Names) -> dict[str, dict[str, float]]:
    """Return the raw scores of each agent by game."""
    agents: dict[str, dict[str, float]] = {}
    if source is not None:
        from gnomon.scores.readers.tidy_files import read_scores

        table = read_scores(source, where=conditions(where)).last_step()
        for name in table.algorithms:
            tasks = table.tasks_of(name)
            agents[name] = {task: float(table.runs(name, task).mean()) for task in tasks}
    for text in game or []:
        name, _, value = text.rpartition("=")
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not (name and math.isfinite(number)):
            raise typer.BadParameter(f"expected GAME=SCORE, found {text!r}", param_hint="--game")
        agents.setdefault("agent", {})[name] = number
    if not agents:
        raise typer.BadParameter("expected a file of scores, or --game GAME=SCORE")
    return agents
