"""Options that several verbs share: how scores are read, drawn from and shown.

A group of options is one parameter of a verb, a data class, each field an option.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from gnomon.cli.sources import places_of, single_place
from gnomon.errors import ScoreDataError

if TYPE_CHECKING:
    from gnomon.scores.readers.summaries import SummaryTable
    from gnomon.scores.table import ScoreTable

LEAST_LEVEL = 1e-6


def _checked_level(level: float) -> float:
    # Beyond these limits an interval is a point, or holds everything.
    if not LEAST_LEVEL <= level <= 1 - LEAST_LEVEL:
        limits = f", not within {LEAST_LEVEL:g} of either" if 0 < level < 1 else ""
        raise typer.BadParameter(f"expected a number between 0 and 1{limits}, found {level}")
    return level


def _checked_target(gamma: float | None) -> float | None:
    if gamma is not None and not math.isfinite(gamma):
        raise typer.BadParameter(f"expected a finite number, found {gamma}")
    return gamma


Source = Annotated[
    Path,
    typer.Argument(help="A file or folder of scores, or the name of a data set.", readable=False),
]
Where = Annotated[
    list[str] | None, typer.Option(help="COLUMN=VALUE: only such rows of a score file.")
]
Score = Annotated[
    str | None,
    typer.Option(help="Which score, or column of a file, where there are several."),
]
Level = Annotated[float, typer.Option(help="Confidence level.", callback=_checked_level)]
Resamples = Annotated[int, typer.Option(min=1, help="Bootstrap resamples.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all draws.")]
Gamma = Annotated[
    float | None,
    typer.Option(help="Target of the optimality gap.", callback=_checked_target),
]
Normalize = Annotated[
    str | None,
    typer.Option(
        help="min-max, percentile, reference:ALGORITHM; atari (random-human), procgen-easy, "
        "procgen-hard, dmc, minatar; or a CSV file of task, low, high."
    ),
]
At = Annotated[
    float | None, typer.Option(help="Of curves, the step to take; runs short of it are missing.")
]
OwnEnd = Annotated[bool, typer.Option("--last", help="Of curves, the end of each run by itself.")]
Latex = Annotated[bool, typer.Option("--latex", help="Print a LaTeX table.")]
Only = Annotated[
    list[str] | None, typer.Option("--algorithm", help="Only these algorithms; repeatable.")
]
# As in gnomon.stats, whose import would load what the help does not need.
Method = Literal["auto", "percentile"]
Variances = Annotated[
    Literal["moderated", "own"],
    typer.Option(help="Moderated over the algorithms of the table, or each one's own."),
]
Resampling = Literal["runs", "runs_and_tasks"]


@dataclass(frozen=True)
class ReadOptions:
    """How scores are read."""

    where: Where = None
    column: Annotated[
        list[str] | None,
        typer.Option(help="NAME=COLUMN: what a column is called, as in algorithm=Name."),
    ] = None
    step_column: Annotated[
        str | None, typer.Option(help="The column of a score file to read as the step.")
    ] = None
    lower_is_better: Annotated[
        bool, typer.Option("--lower-is-better", help="Low scores of a score file are good.")
    ] = False
    format: Annotated[
        str | None,
        typer.Option("--format", help="The format of the scores, if it is not recognised."),
    ] = None
    run_names: Annotated[
        str | None,
        typer.Option(help="How a tracker's names of runs are made, as in '{algorithm}-{run}'."),
    ] = None
    columns_are: Annotated[
        Literal["algorithms", "tasks", "runs"] | None,
        typer.Option("--columns-are", help="What the columns of a table of seeds or steps are."),
    ] = None
    units: Annotated[
        Literal["tasks", "items"] | None,
        typer.Option("--units", help="What a task is: a task, or an item of an evaluation."),
    ] = None
    cluster: Annotated[
        str | None, typer.Option("--cluster", help="The column that tells the cluster of an item.")
    ] = None
    rename: Annotated[
        list[str] | None, typer.Option(help="OLD=NEW: what to call an algorithm or model.")
    ] = None


@dataclass(frozen=True)
class NormalizedScores:
    """Which scores are read, and on what scale they are put."""

    score: Score = None
    normalize: Normalize = None
    at: At = None
    own_end: OwnEnd = False

    def last(
        self,
        source: Path | Sequence[str],
        options: ReadOptions,
        algorithms: list[str] | None = None,
    ) -> ScoreTable:
        """Return one score of each run, on the scale that was asked for."""
        return normalized(self.raw(source, options, algorithms), self.normalize)

    def algorithms_by(self, options: ReadOptions) -> Callable[[Sequence[str]], Collection[str]]:
        """Return what tells the algorithms of sources."""
        return lambda sources: scores_of(sources, self.score, options).algorithms

    def raw(
        self,
        source: Path | Sequence[str],
        options: ReadOptions,
        algorithms: list[str] | None = None,
    ) -> ScoreTable:
        """Return one raw score of each run: of curves the last that all runs on a task reach."""
        if self.own_end and self.at is not None:
            raise typer.BadParameter("--last and --at choose different steps: expected one of them")
        table = scores_of(source, self.score, options).select(algorithms=algorithms)
        if self.own_end:
            return table.last_step()
        from gnomon.scores.steps import at_common_step

        return at_common_step(table, self.at)


@dataclass(frozen=True)
class DrawOptions:
    """How intervals are drawn."""

    level: Level = 0.95
    resamples: Resamples = 2000
    seed: Seed = 0
    gamma: Gamma = None

    def arguments(self) -> dict[str, Any]:
        """Return the options as the functions of gnomon.stats take them."""
        return {
            "level": self.level,
            "n_resamples": self.resamples,
            "gamma": self.gamma,
            "rng": self.seed,
        }


@dataclass(frozen=True)
class ShowOptions:
    """How what was found is shown."""

    latex: Latex = False
    figure: Annotated[Path | None, typer.Option(help="Draw to this file: .svg, .png or .pdf.")] = (
        None
    )


def scores_of(
    source: Path | Sequence[str],
    metric: str | None,
    options: ReadOptions,
    *,
    default_metric: str | None = None,
    count_empty: bool = True,
    within_run: Literal["mean"] | None = None,
    window: int | None = None,
) -> ScoreTable:
    """Return the scores of a source, or of several, read as the options say."""
    from gnomon.scores import read_scores

    return read_scores(
        source if isinstance(source, Path) else places_of(source),
        metric=metric,
        default_metric=default_metric,
        where=conditions(options.where),
        columns=conditions(options.column, "--column", "NAME=COLUMN"),
        step_column=options.step_column,
        run_names=options.run_names,
        columns_are=options.columns_are,
        higher_is_better=False if options.lower_is_better else None,
        format=options.format,
        count_empty=count_empty,
        units=options.units,
        cluster=options.cluster,
        rename=conditions(options.rename, "--rename", "OLD=NEW"),
        within_run=within_run,
        window=window,
    )


def scores_or_summaries(
    source: Sequence[str],
    scores: NormalizedScores,
    reading: ReadOptions,
    metrics: Sequence[str] | None,
    method: Method,
    needs_runs: Mapping[str, bool],
) -> tuple[ScoreTable, Sequence[str] | None, Method]:
    """Return scores, metrics and method: as they are, or what a file of summaries allows.

    `needs_runs` says which options are set that summaries cannot serve.
    """
    from gnomon.scores.readers.summaries import holds_summaries

    place = single_place(source)
    if place is None or not holds_summaries(place):
        return _runs_or_errors(source, scores, reading, metrics, method, needs_runs)
    asked = [name for name, is_set in needs_runs.items() if is_set]
    if method != "auto":
        asked.append(f"--method {method}")
    if asked:
        raise ScoreDataError(f"{place}: {asked[0]} needs the runs, and these are summaries")
    from gnomon.stats.summary_statistics import summary_metrics

    table = _stand_ins(place, reading, scores.normalize)
    return table, summary_metrics(metrics), method


def _runs_or_errors(
    source: Sequence[str],
    scores: NormalizedScores,
    reading: ReadOptions,
    metrics: Sequence[str] | None,
    method: Method,
    needs_runs: Mapping[str, bool],
) -> tuple[ScoreTable, Sequence[str] | None, Method]:
    """Return runs; of single ones with their standard errors, items that stand in for them."""
    from gnomon.scores.readers.summaries import of_standard_errors
    from gnomon.stats.summary_statistics import SUMMARY_METRICS, stand_in_runs

    table = scores.raw(source, reading)
    found = of_standard_errors(table)
    linear = (scores.normalize or "").partition(":")[0] not in ("min-max", "percentile")
    can = linear and not any(needs_runs.values()) and method == "auto"
    if found is None or not can or not set(metrics or ()) <= set(SUMMARY_METRICS):
        return normalized(table, scores.normalize), metrics, method
    warn_of_items()
    runs = stand_in_runs(found, higher_is_better=table.higher_is_better)
    return normalized(runs, scores.normalize), metrics or SUMMARY_METRICS, method


def warn_of_items() -> None:
    """Say what an interval from standard errors is of."""
    import warnings

    from gnomon.errors import DegenerateScoresWarning

    warnings.warn(
        "intervals come from the standard errors of the source: they are of other items of the "
        "same kind, not of other runs, and n_runs counts items",
        DegenerateScoresWarning,
        stacklevel=2,
    )


def summaries_of(
    source: Sequence[str],
    reading: ReadOptions,
    keep_apart: str | None,
    algorithms: list[str] | None,
) -> SummaryTable | None:
    """Return a file of means and standard deviations; None if the source is none."""
    from gnomon.scores.readers.summaries import holds_summaries

    place = single_place(source)
    if place is None or not holds_summaries(place):
        return None
    found = _summaries(place, reading, keep_apart)
    return found if algorithms is None else found.select(algorithms)


def _stand_ins(source: Path, options: ReadOptions, normalize: str | None) -> ScoreTable:
    """Return runs that stand in for a file of means and standard deviations."""
    if normalize is not None and normalize.partition(":")[0] in ("min-max", "percentile"):
        raise ScoreDataError(f"{source}: {normalize} needs the runs, and these are summaries")
    from gnomon.stats.summary_statistics import stand_in_runs

    found = _summaries(source, options)
    table = stand_in_runs(found, higher_is_better=not options.lower_is_better)
    return normalized(table, normalize)


def _summaries(source: Path, options: ReadOptions, keep_apart: str | None = None) -> SummaryTable:
    from gnomon.scores import read_summaries

    where, columns = (
        conditions(options.where),
        conditions(options.column, "--column", "NAME=COLUMN"),
    )
    return read_summaries(source, where=where, columns=columns, keep_apart=keep_apart)


def conditions(
    texts: list[str] | None, option: str = "--where", form: str = "COLUMN=VALUE"
) -> dict[str, str]:
    """Return names and values, from texts such as ``COLUMN=VALUE``."""
    found = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise typer.BadParameter(f"expected {form}, found {text!r}", param_hint=option)
        found[name] = value
    return found


def normalized(table: ScoreTable, name: str | None) -> ScoreTable:
    """Return the table on the scale that was asked for, or as it is."""
    if name is None:
        return table
    from gnomon.scores.normalization import normalize

    return normalize(table, name)


def with_groups(verb: Callable[..., None]) -> Callable[..., None]:
    """Return the verb with an option for each field of those parameters that are data classes.

    The verb itself is called with the data classes.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Colors:
    ...     ink: str = "black"
    ...     paper: str = "white"
    >>> def draw(what: str, colors: Colors) -> None:
    ...     print(what, colors.ink, colors.paper)
    >>> with_groups(draw)(what="a line", ink="blue", paper="white")
    a line blue white
    """
    hints = get_type_hints(verb, include_extras=True)
    groups = {
        name: hint for name, hint in hints.items() if isinstance(hint, type) and is_dataclass(hint)
    }

    @functools.wraps(verb)
    def spread(**values: Any) -> None:
        for name, group in groups.items():
            own = {field.name: values.pop(field.name) for field in fields(group)}
            values[name] = group(**own)
        verb(**values)

    parameters = list(_parameters(verb, hints))
    spread.__annotations__ = {p.name: p.annotation for p in parameters}
    # Typer asks inspect.signature(), which takes this attribute; typeshed's functions lack it.
    spread.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # see above
    return spread


def _parameters(verb: Callable[..., None], hints: dict[str, Any]) -> Iterator[Parameter]:
    """Yield what the command line sees: the parameters of the verb, and the fields of groups."""
    for parameter in signature(verb).parameters.values():
        hint = hints[parameter.name]
        if not (isinstance(hint, type) and is_dataclass(hint)):
            yield parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hint)
            continue
        of_fields = _field_types(hint)
        for field in fields(hint):
            default = Parameter.empty if field.default is MISSING else field.default
            kind = Parameter.KEYWORD_ONLY
            yield Parameter(field.name, kind, default=default, annotation=of_fields[field.name])


@functools.cache
def _field_types(group: type) -> dict[str, Any]:
    """Return the types of the fields of a group, which many verbs share."""
    return get_type_hints(group, include_extras=True)
