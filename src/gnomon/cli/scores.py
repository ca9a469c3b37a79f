"""``gnomon score``: from attempts to numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.option_groups import with_groups
from gnomon.cli.score_options import Normalize, ReadOptions, Source, normalized, scores_of
from gnomon.errors import ScoreDataError

__all__ = ["score"]


@with_groups
def score(
    source: Source,
    metric: Annotated[
        str | None,
        typer.Option("--metric", "--score", help="Which score; tce of a run, if none is named."),
    ] = None,
    normalize: Normalize = None,
    out: Annotated[Path | None, typer.Option(help="Write the scores to this file.")] = None,
    *,
    reading: ReadOptions,
    as_json: JsonOption = False,
) -> None:
    """Turn the attempts of a run into scores, one for each trial."""
    with answering("score", as_json=as_json) as answer:
        table = normalized(scores_of(source, metric, reading), normalize)
        # Whether attempts on empty cells are errors stands here, for a table of errors.
        origin = "; ".join(table.provenance)
        if out is not None:
            from gnomon.scores.readers.tidy_files import write_scores

            if not out.parent.is_dir():
                raise ScoreDataError(f"{out.parent}: expected a folder to write to; there is none")
            write_scores(table, out)
            answer.results(table.to_records())
            answer.say(f"{table.describe()}\n{origin}\nwritten to {out}")
        else:
            answer.say(f"{table.scale}; {origin}")
            answer.records(table.to_records())
