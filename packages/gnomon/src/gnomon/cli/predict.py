"""``gnomon predict``: the summary score of algorithms from a few tasks, or the better of two."""

from __future__ import annotations

from typing import Annotated

import typer

from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.distill import Normalize, references_of
from gnomon.cli.options import Level, Score, ScoreOptions, Where
from gnomon.cli.sources import Sources


def predict(
    model: Annotated[
        str,
        typer.Argument(
            help="A file written by gnomon distill --model, or a published set of Atari games: "
            "atari-1, atari-3, atari-5, atari-10, atari-3-val or atari-5-val."
        ),
    ],
    source: Sources,
    pair: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="A B", help="Predict which of two algorithms is better on the full suite."
        ),
    ] = None,
    normalize: Normalize = None,
    normalized: Annotated[
        bool, typer.Option("--normalized", help="The scores are already normalised.")
    ] = False,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Number of runs behind each score.")
    ] = None,
    level: Level = 0.9,
    score: Score = None,
    where: Where = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Predict the summary score of algorithms from a few tasks, with intervals.

    Example:
      gnomon predict model.json new.csv
      gnomon predict atari-5 my-runs.csv
    """
    from gnomon.distillation import predict as predicted

    with answering("predict", as_json=as_json) as answer:
        table = ScoreOptions(score=score, where=where).table(source)
        found = predicted(
            model,
            table,
            pair=pair,
            references=references_of(normalize, table),
            normalized=normalized,
            runs=runs,
            level=level,
        )
        answer.show(found)
