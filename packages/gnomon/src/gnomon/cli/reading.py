"""The verb ``read``: a file of any layout to one tidy file."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from gnomon.cli.answer import Answer, JsonOption, answering
from gnomon.cli.options import Normalize, ReadOptions, Score, normalized, scores_of, with_groups
from gnomon.cli.sources import Sources
from gnomon.errors import ScoreDataError
from gnomon.tables import MOST_ROWS

if TYPE_CHECKING:
    from gnomon.scores.table import ScoreTable


@with_groups
def read(
    source: Sources,
    score: Score = None,
    normalize: Normalize = None,
    out: Annotated[
        Path | None, typer.Option(help="Write a tidy file: .csv, .tsv or .parquet.")
    ] = None,
    within_run: Annotated[
        Literal["mean"] | None, typer.Option(help="Average several rows of a run, as of episodes.")
    ] = None,
    window: Annotated[
        int | None, typer.Option(min=1, help="Of logs of episodes, average the last ones.")
    ] = None,
    *,
    reading: ReadOptions,
    as_json: JsonOption = False,
) -> None:
    """Read scores of any known layout, and print or write them as a tidy table.

    Example:
      gnomon read runs.csv --out scores.csv
      gnomon read table.csv --column algorithm=agent --column task=env --out scores.csv
    """
    with answering("read", as_json=as_json) as answer:
        table = scores_of(source, score, reading, within_run=within_run, window=window)
        show_scores(answer, normalized(table, normalize), out)


def show_scores(answer: Answer, table: ScoreTable, out: Path | None) -> None:
    """Print the scores of a table, or write them to a file and print what it holds."""
    origin = "; ".join(table.provenance)
    if out is not None:
        from gnomon.scores.readers.tables import write_scores

        if not out.parent.is_dir():
            raise ScoreDataError(f"{out.parent}: expected a folder to write to; there is none")
        write_scores(table, out)
        if answer.as_json:  # Ten million rows would be three gigabytes of text.
            answer.results(table.to_records())
        answer.say(f"{table.describe()}\n{origin}\nwritten to {out}")
        return
    answer.say(f"{table.scale}; {origin}")
    if answer.as_json:
        answer.results(table.to_records())
        return
    answer.table(list(islice(table.iter_records(), MOST_ROWS)), table.rows.names)
    n = len(table)
    if n > MOST_ROWS:
        answer.say(f"the first {MOST_ROWS} of {n:,} rows; --out FILE writes all of them")
