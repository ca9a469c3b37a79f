"""``gnomon suite predict, compare, next, reliability``: a smaller suite in use.

``gnomon distill predict``, ``compare`` and ``next`` are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.distill import Picture, References, SuiteScores, costs_of, references_of
from gnomon.cli.options import Level, ReadOptions, Score, Seed, Source, scores_of, with_groups
from gnomon.cli.suite import Folds, Nested, Size, app
from gnomon.errors import ScoreDataError

if TYPE_CHECKING:
    from gnomon.scores import ScoreTable


@dataclass(frozen=True, kw_only=True)
class FewScores(ReadOptions):
    """Scores on the tasks of a saved model, and how sure to be of what it makes of them."""

    references: References = None
    normalized: Annotated[
        bool, typer.Option("--normalized", help="The scores are normalised already.")
    ] = False
    runs: Annotated[
        int | None, typer.Option(min=1, help="How many runs each score is the mean of.")
    ] = None
    level: Level = 0.9
    score: Score = None

    def options(self) -> dict[str, Any]:
        """Return what :func:`gnomon.distill.predict` takes beside the scores."""
        ends = references_of(self.references)
        stated = {"normalized": self.normalized, "runs": self.runs, "level": self.level}
        return {"references": ends, **stated}


@app.command()
@with_groups
def predict(
    model: Annotated[Path, typer.Argument(help="What gnomon distill --model has written.")],
    source: Source,
    *,
    scores: FewScores,
    as_json: JsonOption = False,
) -> None:
    """Predict the summary of algorithms from the few tasks of a saved model, with intervals."""
    from gnomon.distill import ItemSuite, SubsetModel
    from gnomon.distill import predict as predicted

    with answering("suite predict", as_json=as_json) as answer:
        table = scores_of(source, scores.score, scores)
        if ItemSuite.is_file(model):
            answer.show(ItemSuite.load(model).predict(table, level=scores.level))
            return
        answer.show(predicted(SubsetModel.load(model), table, **scores.options()))


@app.command()
@with_groups
def compare(
    model: Annotated[Path, typer.Argument(help="What gnomon distill --model has written.")],
    a: Annotated[str, typer.Argument(help="An algorithm of --scores, or a file with one.")],
    b: Annotated[str, typer.Argument(help="Another, with the same tasks or others.")],
    file: Annotated[
        Path | None,
        typer.Option("--scores", help="The file of scores in which the algorithms are."),
    ] = None,
    *,
    scores: FewScores,
    as_json: JsonOption = False,
) -> None:
    """Say which of two algorithms is better on the full suite, with what probability."""
    from gnomon.distill import SubsetModel
    from gnomon.distill import compare as compared

    with answering("suite compare", as_json=as_json) as answer:
        fitted = SubsetModel.load(model)
        if file is None:
            tables = [scores_of(Path(path), scores.score, scores) for path in (a, b)]
            names, table = _one_each(tables, (a, b))
        else:
            names, table = (a, b), scores_of(file, scores.score, scores)
        answer.show(compared(fitted, *names, table, **scores.options()))


def _one_each(
    tables: Sequence[ScoreTable], files: tuple[str, str]
) -> tuple[tuple[str, str], ScoreTable]:
    """Return the names of the only algorithms of two tables, and one table of both."""
    from gnomon.scores import ScoreTable

    for table, file in zip(tables, files, strict=True):
        if len(table.algorithms) != 1:
            raise ScoreDataError(
                f"{file}: expected one algorithm, found {len(table.algorithms)}; "
                "name two of a file with --scores FILE"
            )
    names = tables[0].algorithms[0], tables[1].algorithms[0]
    if names[0] == names[1]:
        names = files
    import polars as pl

    columns = ["task", "run", "score"]
    frames = [
        t.last_step().to_frame().select(pl.lit(name).alias("algorithm"), *columns)
        for t, name in zip(tables, names, strict=True)
    ]
    return names, ScoreTable.from_frame(pl.concat(frames))


@app.command("next")
@with_groups
def next_steps(
    algorithm: Annotated[
        str, typer.Option(help="The algorithm whose few scores are in the table; or a new one.")
    ] = "new",
    costs: Annotated[
        Path | None, typer.Option(help="CSV of task, cost: of one run of each task.")
    ] = None,
    target: Annotated[
        float | None,
        typer.Option(help="Half width to stop at: 0.25, relative; of items 0.03, of the share."),
    ] = None,
    model: Annotated[
        Path | None, typer.Option(help="Of items: what gnomon distill --model has written.")
    ] = None,
    *,
    scores: SuiteScores,
    as_json: JsonOption = False,
) -> None:
    """Say which task or item to run next, by what it tells for its cost, and when to stop."""
    from gnomon.distill import ItemSuite
    from gnomon.distill import next_steps as steps

    with answering("suite next", as_json=as_json) as answer:
        table = scores.items()
        if model is not None and table is None:
            raise ScoreDataError("--model is for items; if the tasks are, say --units items")
        if model is not None and table is not None:
            goal = 0.03 if target is None else target
            answer.show(ItemSuite.load(model).next_of(table, algorithm, target=goal))
            return
        data = scores.prepared() if table is None else table
        found = steps(data, algorithm, costs=costs_of(costs), target=target)
        answer.show(found)
        for note in () if found else found.notes:
            answer.say(note)


@app.command()
@with_groups
def reliability(
    size: Size = 5,
    nested: Nested = "folds",
    folds: Folds = 10,
    seed: Seed = 0,
    figure: Picture = None,
    *,
    scores: SuiteScores,
    as_json: JsonOption = False,
) -> None:
    """Say how far the probabilities of gnomon distill compare are to be trusted."""
    from gnomon.distill import reliability as measured

    with answering("suite reliability", as_json=as_json) as answer:
        found = measured(scores.prepared(), size=size, nested=nested, folds=folds, rng=seed)
        answer.show(found, figure=figure)


class DistillCommand(TyperCommand):
    """``gnomon distill SOURCE``; a verb of ``gnomon suite`` in the place of the source is that."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Return the context of the command, or of the verb that is named."""
        if args and args[0] in ("predict", "compare", "next") and not Path(args[0]).exists():
            group = typer.main.get_group(app)
            name = f"{info_name} {args[0]}"
            return group.commands[args[0]].make_context(name, args[1:], parent=parent, **extra)
        return super().make_context(info_name, args, parent=parent, **extra)
