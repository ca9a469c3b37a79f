"""``gnomon distill`` and ``gnomon atari5``: the few tasks that predict a suite, and how well."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gnomon.cli.answer import Answer, JsonOption, answering
from gnomon.errors import ScoreDataError, UnknownNameError

if TYPE_CHECKING:
    from gnomon.distill.preparation import PreparedScores
    from gnomon.distill.search import Progress
    from gnomon.scores.table import ScoreTable

__all__ = ["atari5", "distill"]

atari5 = typer.Typer(no_args_is_help=True, help="Atari-5: score, cost, models, reproduction.")

Names = list[str] | None


def distill(
    source: Annotated[
        str, typer.Argument(help="A file of scores, a run folder, or the data set atari5.")
    ],
    size: Annotated[int, typer.Option(min=1, help="Number of tasks.")] = 5,
    procedure: Annotated[
        Names, typer.Option(help="factor, paper, paper-code, complete, auto, irt-1, irt-2; repeat.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many subsets to show.")] = 1,
    summary: Annotated[
        str, typer.Option(help="median, mean, iqm, mean_log or above_human.")
    ] = "median",
    transform: Annotated[str, typer.Option(help="log, identity or logit.")] = "log",
    score: Annotated[str, typer.Option(help="Which score of a run folder.")] = "tce",
    references: Annotated[
        Path | None, typer.Option(help="CSV of task, random, human: scores become 0 to 100.")
    ] = None,
    nested: Annotated[
        Literal["folds", "algorithms", "groups", "group-folds", "none"],
        typer.Option(help="What the nested validation leaves out at a time."),
    ] = "folds",
    repeats: Annotated[int, typer.Option(min=1, help="Of the nested validation.")] = 1,
    folds: Annotated[int, typer.Option(min=2, help="Of both validations.")] = 10,
    group_by: Annotated[
        str | None, typer.Option(help="The column that says what an algorithm comes from.")
    ] = None,
    force: Annotated[Names, typer.Option(help="A task that every subset has; repeatable.")] = None,
    exclude: Annotated[Names, typer.Option(help="A task to leave out; repeatable.")] = None,
    least_tasks: Annotated[int, typer.Option(help="Fewest tasks of an algorithm.")] = 1,
    least_algorithms: Annotated[int, typer.Option(help="Fewest algorithms of a task.")] = 1,
    least_summary: Annotated[
        float | None, typer.Option(help="Algorithms whose summary is not above it are left out.")
    ] = None,
    model: Annotated[Path | None, typer.Option(help="Write the best model to this file.")] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes for the folds.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the outer folds.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Find the few tasks that predict a suite's summary score, with the honest error beside it."""
    import numpy as np

    from gnomon.distill.distillation import distill as distil
    from gnomon.distill.procedures import procedure_of
    from gnomon.execution.executor import make_executor

    with answering("distill", as_json=as_json) as answer:
        data = _prepared(
            source,
            references,
            score,
            transform=transform,
            summary=summary,
            least_tasks=least_tasks,
            least_algorithms=least_algorithms,
            least_summary=least_summary,
            group_by=group_by,
            excluded=tuple(exclude or ()),
        )
        _announce(data, size, procedure or ["factor"], tuple(force or ()))
        results = []
        for name in procedure or ["factor"]:
            with _progress_bar("distil") as progress:
                results += distil(
                    data,
                    size,
                    procedure_of(name, n_folds=folds),
                    n_best=top,
                    forced=tuple(force or ()),
                    outer=None if nested == "none" else nested,
                    n_folds=folds,
                    n_repeats=repeats,
                    rng=np.random.default_rng(seed),
                    executor=make_executor(workers) if workers > 1 else None,
                    progress=progress,
                )
        if model is not None:
            results[0].model.save(model)
        _show(answer, results, data)


def _show(answer: Answer, results: list[Any], data: PreparedScores) -> None:
    """Print the subsets, and what the two errors mean."""
    records = [r.as_record() for r in results]
    columns = ["procedure", "rank", "tasks", "cv_mse", "r2", "relative_error"]
    answer.records(records, [*columns, "nested_relative_error", "n_rows"])
    if any(r.nested is None for r in results):
        answer.warn("nested_relative_error: of the first subset of a nested validation alone")
    for result in (r for r in results if r.nested is not None):
        n_missing = len(data.algorithms) - result.nested.n_predicted
        lacking = f"; {n_missing} algorithms lack a score that was needed" if n_missing else ""
        answer.say(
            f"{result.procedure}: {100 * result.relative_error:.1f} % with these tasks given, "
            f"{100 * result.nested_relative_error:.1f} % (standard error "
            f"{100 * result.nested.standard_error:.1f}) for algorithms that the choice of tasks "
            f"had not seen{lacking}"
        )
        weights = zip(result.model.tasks, result.model.weights, strict=True)
        terms = "".join(f" + {w:.4g} {task}" for task, w in weights)
        answer.say(f"  {data.transform.name} summary = {result.model.intercept:.4g}{terms}")


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
    where: Annotated[Names, typer.Option(help="COLUMN=VALUE: only such rows of the file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Give the Atari-5 score of an agent from its raw scores, beside published ones."""
    from gnomon.distill.atari import ADVICE, atari_scores, published_models, published_table

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
    from gnomon.distill.atari import game_models, human_normalized, published_constants

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
    from gnomon.distill.atari import published_models

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
    from gnomon.distill.atari import PUBLISHED_COSTS
    from gnomon.distill.cost import Machine, run_cost

    with answering("atari5 cost", as_json=as_json) as answer:
        costs = [run_cost(name, machine, h, games) for name, machine, h in PUBLISHED_COSTS]
        if frames is not None:
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
    from gnomon.distill.atari import NAMED_SUBSETS, published_models

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
    from gnomon.distill.atari import NAMED_SUBSETS, published_models
    from gnomon.distill.procedures import PaperProcedure
    from gnomon.distill.reproduction import paper_scores
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
    from gnomon.distill.case_study import case_study

    with answering("atari5 case-study", as_json=as_json) as answer:
        columns = _numbers(source, "algorithm", ("median", "atari5"))
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
    from gnomon.distill.reproduction import SECTIONS
    from gnomon.distill.reproduction import reproduce as compare

    if only is not None and only not in SECTIONS:
        raise UnknownNameError("part of the paper", only, SECTIONS)
    with answering("atari5 reproduce", as_json=as_json) as answer:
        found = list(compare(only))
        shown = [c for c in found if not (differing and c.equal)]
        answer.records([asdict(c) for c in shown])
        counts = {value: sum(c.equal is value for c in found) for value in (True, False, None)}
        answer.say(
            f"{counts[True]} equal, {counts[False]} not equal, {counts[None]} not computable here"
        )


def _prepared(source: str, references: Path | None, score: str, **options: Any) -> PreparedScores:
    """Return the prepared scores of a file, or of a data set as its authors prepare it."""
    from gnomon.distill.preparation import Preparation
    from gnomon.scores.datasets import DATASETS

    if source in DATASETS and not Path(source).exists():
        from dataclasses import replace

        from gnomon.distill.atari import atari_preparation
        from gnomon.scores.datasets import load_scores

        standard = atari_preparation(summary=options["summary"])
        chosen = {"transform": options["transform"], "excluded": options["excluded"]}
        return replace(standard, **chosen).apply(load_scores(source))
    table = _table(Path(source), score)
    return Preparation(references=_references(references), **options).apply(table)


def _table(path: Path, score: str) -> ScoreTable:
    if path.is_dir():
        from gnomon.experiments.run_folder import RunFolder
        from gnomon.experiments.scoring import score_table

        return score_table(RunFolder.open(path), score)
    from gnomon.scores.formats import read_scores

    return read_scores(path).last_step()


def _references(path: Path | None) -> dict[str, tuple[float, float]] | None:
    if path is None:
        return None
    ends = _numbers(path, "task", ("random", "human"))
    return {task: (random, human) for task, (random, human) in ends.items()}


def _numbers(path: Path, key: str, columns: tuple[str, str]) -> dict[str, tuple[float, float]]:
    """Return two columns of numbers of a CSV file, by the name in another."""
    found = {}
    with path.open(newline="", encoding="utf-8") as file:
        for line, row in enumerate(csv.DictReader(file), start=2):
            try:
                found[row[key]] = (float(row[columns[0]]), float(row[columns[1]]))
            except (KeyError, TypeError, ValueError):
                wanted = ", ".join((key, *columns))
                raise ScoreDataError(
                    f"{path}, line {line}: expected the columns {wanted}, the last two numbers"
                ) from None
    return found


def _agents(source: Path | None, game: Names, where: Names) -> dict[str, dict[str, float]]:
    """Return the raw scores of each agent by game."""
    agents: dict[str, dict[str, float]] = {}
    if source is not None:
        from gnomon.scores.formats import read_scores

        conditions = dict(text.split("=", 1) for text in where or [])
        table = read_scores(source, where=conditions).last_step()
        for name in table.algorithms:
            tasks = table.tasks_of(name)
            agents[name] = {task: float(table.runs(name, task).mean()) for task in tasks}
    for text in game or []:
        name, equals, value = text.rpartition("=")
        try:
            agents.setdefault("agent", {})[name] = float(value)
        except ValueError:
            equals = ""
        if not equals:
            raise typer.BadParameter(f"expected GAME=SCORE, found {text!r}", param_hint="--game")
    if not agents:
        raise typer.BadParameter("expected a file of scores, or --game GAME=SCORE")
    return agents


def _announce(data: PreparedScores, size: int, names: list[str], forced: tuple[str, ...]) -> None:
    """Say how long a search will take, if it is long."""
    from gnomon.distill.search import expected_seconds

    if not set(names) & {"paper", "paper-code", "complete"}:
        return
    n_subsets, seconds = expected_seconds(data, size, forced=forced)
    if seconds > 2:
        print(f"gnomon: {n_subsets:,} subsets, about {seconds:.0f} s a search", file=sys.stderr)


@contextmanager
def _progress_bar(what: str) -> Iterator[Progress]:
    """Show how far a search is, once it has taken two seconds; nothing, if nobody looks."""
    from rich import progress
    from rich.console import Console

    began = monotonic()
    bar = progress.Progress(
        progress.TextColumn(what),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("left"),
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
        transient=True,
    )
    task = bar.add_task(what, total=None)

    def update(done: int, total: int) -> None:
        if monotonic() - began > 2 and not bar.live.is_started:
            bar.start()
        bar.update(task, completed=done, total=total)

    try:
        yield update
    finally:
        bar.stop()
