"""The verb ``score``: scores of runs and score files, and of series that people played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from gnomon._io.tables import MOST_ROWS
from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.options import Normalize, ReadOptions, normalized, scores_of, with_groups
from gnomon.cli.sources import Sources
from gnomon.errors import ScoreDataError

if TYPE_CHECKING:
    from gnomon.scores.table import ScoreTable


@dataclass(frozen=True)
class SeriesOptions:
    """How series of people are scored."""

    target_streak: Annotated[
        int | None, typer.Option(min=1, help="Of people: mastery is so many successes in a row.")
    ] = None
    target_r: Annotated[
        float | None, typer.Option("--target-r", help="Of people: or a likelihood ratio so high.")
    ] = None
    prec_mode: Annotated[
        Literal["naive", "every", "every-cond", "ignore"],
        typer.Option(help="Of people: which series compare, by the rules met before."),
    ] = "naive"
    p0: Annotated[
        Literal["random", "mcp1"],
        typer.Option(help="Of people: who sets the chances: any attempt, or no known failure."),
    ] = "random"
    rule: Annotated[str | None, typer.Option(help="Of people: only series on this rule.")] = None
    rules: Annotated[
        Path | None, typer.Option(help="Of people: the folder of the rules, NAME.txt.")
    ] = None
    trial_lists: Annotated[
        Path | None, typer.Option(help="Of people: the folder of trial lists, PLAN/LIST.csv.")
    ] = None
    as_reference: Annotated[
        bool, typer.Option("--as-reference", help="Of people: as the reference system counts.")
    ] = False

    def scores(self, places: Sequence[Path], metric: str | None) -> ScoreTable:
        """Return the scores of transcripts."""
        from gnomon.experiments.series.played_series import read_series
        from gnomon.experiments.series.series_scores import score_series

        return score_series(
            read_series(places, trial_lists=self.trial_lists),
            metric or "m_star",
            rules=self.rules,
            target_streak=self.target_streak,
            target_r=self.target_r,
            precedence=self.prec_mode,
            p0=self.p0,
            rule=self.rule,
            as_reference=self.as_reference,
        )


@with_groups
def score(
    source: Sources,
    metric: Annotated[
        str | None,
        typer.Option(
            "--metric",
            "--score",
            help="Which score, if not tce of a run or m_star of people.",
        ),
    ] = None,
    normalize: Normalize = None,
    out: Annotated[Path | None, typer.Option(help="Write the scores to this file.")] = None,
    *,
    people: SeriesOptions,
    reading: ReadOptions,
    as_json: JsonOption = False,
) -> None:
    """Turn the attempts of a run, or of people, into scores, one for each trial or series."""
    with answering("score", as_json=as_json) as answer:
        table = normalized(_table(source, metric, people, reading), normalize)
        # Whether attempts on empty cells are errors stands here, for a table of errors.
        origin = "; ".join(table.provenance)
        if out is not None:
            from gnomon.scores.readers.tidy_files import write_scores

            if not out.parent.is_dir():
                raise ScoreDataError(f"{out.parent}: expected a folder to write to; there is none")
            write_scores(table, out)
            if as_json:  # Ten million rows would be three gigabytes that nobody asked for.
                answer.results(table.to_records())
            answer.say(f"{table.describe()}\n{origin}\nwritten to {out}")
        else:
            answer.say(f"{table.scale}; {origin}")
            if as_json or len(table.frame) <= MOST_ROWS:
                answer.records(table.to_records())
            else:
                answer.long_table(table.iter_records, table.frame.columns)


def _table(
    source: Sequence[str], metric: str | None, people: SeriesOptions, reading: ReadOptions
) -> ScoreTable:
    places = [Path(word) for word in source]
    asked = people != SeriesOptions()
    if not _is_of_people(places, metric, asked=asked):
        if asked:
            raise ScoreDataError(
                f"{source[0]}: expected transcripts of people, whose series such options as "
                "--target-streak are for; found none"
            )
        return scores_of(source, metric, reading)
    if reading != ReadOptions():
        raise ScoreDataError(
            f"{source[0]}: transcripts of people have no options of score files, such as --where"
        )
    return people.scores(places, metric)


def _is_of_people(places: Sequence[Path], metric: str | None, *, asked: bool) -> bool:
    """Tell whether series of people are meant; detailed transcripts are game logs as well."""
    from gnomon.experiments.game_log_rows import is_game_log
    from gnomon.experiments.scoring.trial_scores import METRICS
    from gnomon.experiments.series.transcript_files import hold_attempts

    if not hold_attempts(places):
        return False
    return asked or not (metric is None or metric in METRICS) or not all(map(is_game_log, places))
