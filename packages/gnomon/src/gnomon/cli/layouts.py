"""The verb ``read``: a file of any layout to one tidy file."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gnomon.cli.answer import Answer, JsonOption, answering
from gnomon.cli.options import ScoreOptions, pairs_of, with_groups
from gnomon.cli.sources import Sources
from gnomon.printing import MOST_ROWS

if TYPE_CHECKING:
    from gnomon.scores.table import ScoreTable


@dataclass(frozen=True)
class Layout:
    """How scores lie in a source whose layout is not recognised, or has two readings."""

    format: Annotated[
        str | None, typer.Option("--format", help="Format, if it is not recognised.")
    ] = None
    column: Annotated[
        list[str] | None,
        typer.Option(help="NAME=COLUMN: the column to read as NAME, such as algorithm=agent."),
    ] = None
    columns_are: Annotated[
        Literal["algorithms", "tasks", "runs"] | None,
        typer.Option(help="What the columns of a table of seeds or steps are."),
    ] = None
    run_names: Annotated[
        str | None,
        typer.Option(
            help="Pattern of the names of runs in a tracker, such as '{algorithm}-{run}'."
        ),
    ] = None
    units: Annotated[
        Literal["tasks", "items"] | None,
        typer.Option(help="Whether a row is about a task or an item of an evaluation."),
    ] = None
    cluster: Annotated[
        str | None, typer.Option(help="Column that names the cluster of an item.")
    ] = None
    within_run: Annotated[
        Literal["mean"] | None,
        typer.Option(help="Average several rows of one run, such as episodes."),
    ] = None
    at: Annotated[
        str | None,
        typer.Option(help="Take this step of curves, or the last step of each run: end."),
    ] = None
    window: Annotated[
        int | None,
        typer.Option(min=1, help="Average the last N episodes or evaluations of training logs."),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """Return the options as :func:`gnomon.scores.read_scores` takes them."""
        columns = pairs_of(self.column, "--column", "NAME=COLUMN")
        given = {name: value for name, value in vars(self).items() if name != "column"}
        return given | {"columns": columns, "at": _step(self.at)}


@with_groups
def read(
    source: Sources,
    out: Annotated[
        Path | None, typer.Option(help="Write a tidy file: .csv, .tsv or .parquet.")
    ] = None,
    *,
    layout: Layout,
    scores: ScoreOptions,
    as_json: JsonOption = False,
) -> None:
    """Read scores of any known layout into a tidy table.

    Example:
      gnomon read runs.csv --out scores.csv
      gnomon read table.csv --column algorithm=agent --column task=env --out scores.csv
    """
    reads = (*source, scores.normalize)
    with answering("read", as_json=as_json, reads=reads, writes=[out]) as answer:
        table = scores.table(source, **layout.arguments())
        show_scores(answer, scores.normalized(table), out)


def _step(text: str | None) -> float | Literal["end"] | None:
    if text is None or text == "end":
        return "end" if text else None
    try:
        return float(text)
    except ValueError:
        message = f"expected a step or end, found {text!r}"
        raise typer.BadParameter(message, param_hint="--at") from None


def show_scores(answer: Answer, table: ScoreTable, out: Path | None) -> None:
    """Print the scores of a table, or write them to a file and print what it holds."""
    from gnomon.scores.checks import refuse_summaries

    refuse_summaries(table)
    origin = "; ".join(table.provenance)
    if out is not None:
        from gnomon.scores import write_scores

        write_scores(table, out)
        if answer.as_json:  # Ten million rows would be three gigabytes of text.
            answer.results(table.to_records())
        answer.say(f"{table}\n{origin}\nwritten to {out}")
        return
    answer.say(f"{table.scale}; {origin}")
    if answer.as_json:
        answer.results(table.to_records())
        return
    answer.table(list(islice(table.rows.records(), MOST_ROWS)), table.rows.names)
    n = len(table)
    if n > MOST_ROWS:
        answer.say(f"First {MOST_ROWS} of {n:,} rows; --out FILE writes all.")
