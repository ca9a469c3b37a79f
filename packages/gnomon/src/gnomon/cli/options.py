"""Options that several verbs share: how scores are read, drawn from and shown.

A group of options is one parameter of a verb, a data class, each field an option.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from gnomon.cli.answer import JsonOption
from gnomon.cli.sources import places_of
from gnomon.errors import LEAST_RESAMPLES

if TYPE_CHECKING:
    from gnomon.scores.table import ScoreTable

LEAST_LEVEL = 1e-6
#: The most resamples, simulated studies, and runs of a plan: more would take days.
MOST = 1_000_000


def checked_share(share: float) -> float:
    """Return a level or a power, once it is checked."""
    # Beyond these limits an interval is a point, or holds everything.
    if not LEAST_LEVEL <= share <= 1 - LEAST_LEVEL:
        limits = f", not within {LEAST_LEVEL:g} of either" if 0 < share < 1 else ""
        raise typer.BadParameter(f"expected a number between 0 and 1{limits}, found {share}")
    return share


def _checked_target(gamma: float | None) -> float | None:
    if gamma is not None and not math.isfinite(gamma):
        raise typer.BadParameter(f"expected a finite number, found {gamma}")
    return gamma


Where = Annotated[
    list[str] | None, typer.Option(help="COLUMN=VALUE: use only these rows; repeatable.")
]
Score = Annotated[
    str | None,
    typer.Option(help="Which score or column to use, if there are several."),
]
Level = Annotated[float, typer.Option(help="Confidence level.", callback=checked_share)]
Resamples = Annotated[
    int, typer.Option(min=LEAST_RESAMPLES, max=MOST, help="Number of bootstrap resamples.")
]
Seed = Annotated[int, typer.Option(min=0, help="Random seed.")]
Gamma = Annotated[
    float | None,
    typer.Option(help="Target of the optimality gap.", callback=_checked_target),
]
Normalize = Annotated[
    str | None,
    typer.Option(
        help="min-max, reference:ALGORITHM; atari (random-human), procgen-easy, "
        "procgen-hard, dmc, minatar; a CSV file of task, low, high; or none."
    ),
]
Latex = Annotated[bool, typer.Option("--latex", help="Print a LaTeX table.")]
Figure = Annotated[Path | None, typer.Option(help="Write a figure: .svg, .png or .pdf.")]
Only = Annotated[
    list[str] | None, typer.Option("--algorithm", help="Use only this algorithm; repeatable.")
]
# As in gnomon.stats, whose import would load what the help does not need.
Method = Literal["auto", "percentile"]
Variances = Annotated[
    Literal["moderated", "own"],
    typer.Option(help="Variances moderated over all algorithms, or each algorithm's own."),
]
Resampling = Literal["runs", "runs_and_tasks"]


@dataclass(frozen=True)
class ScoreOptions:
    """Which scores of a source are taken, and on what scale."""

    score: Score = None
    where: Where = None
    lower_is_better: Annotated[
        bool, typer.Option("--lower-is-better", help="Low scores are better.")
    ] = False
    normalize: Normalize = None

    def table(self, source: Sequence[str], **options: Any) -> ScoreTable:
        """Return the raw scores of sources, read with these options and further ones."""
        from gnomon.scores import read_scores

        return read_scores(
            places_of(source),
            metric=self.score,
            where=pairs_of(self.where, "--where", "COLUMN=VALUE"),
            higher_is_better=False if self.lower_is_better else None,
            **options,
        )

    def of_runs(self, source: Sequence[str], algorithms: list[str] | None = None) -> ScoreTable:
        """Return one score of each run, raw: of curves the last that all runs on a task reach."""
        from gnomon.scores.steps import at_common_step

        return at_common_step(self.table(source).select(algorithms=algorithms))

    def normalized(self, table: ScoreTable) -> ScoreTable:
        """Return a table on the requested scale."""
        if self.normalize is None:
            return table
        from gnomon.scores.normalization import normalize

        return normalize(table, self.normalize)

    def last(self, source: Sequence[str], algorithms: list[str] | None = None) -> ScoreTable:
        """Return one score of each run, on the requested scale."""
        return self.normalized(self.of_runs(source, algorithms))


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
    """How results are shown."""

    latex: Latex = False
    figure: Figure = None
    as_json: JsonOption = False


def scores_or_summaries(
    source: Sequence[str],
    scores: ScoreOptions,
    metrics: Sequence[str] | None,
    needs_runs: Mapping[str, object],
    per_task: bool = False,
) -> tuple[ScoreTable, Any]:
    """Return scores and metrics: as they are, or stand-in runs for summaries.

    `needs_runs` maps options that summaries do not allow to their values.
    """
    from gnomon.stats.summary_statistics import scores_or_stand_ins

    table, needs_raw = scores.of_runs(source), scores.normalize != "min-max"
    if not needs_raw:  # the ends of the scale are runs
        table = scores.normalized(table)
    table, wanted = scores_or_stand_ins(table, metrics, needs_runs, per_task=per_task)
    return scores.normalized(table) if needs_raw else table, wanted


def pairs_of(texts: list[str] | None, option: str, form: str) -> dict[str, str]:
    """Return names and values from texts such as ``COLUMN=VALUE``."""
    found = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise typer.BadParameter(f"expected {form}, found {text!r}", param_hint=option)
        found[name] = value
    return found


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
