"""``gnomon distill``: the few tasks that predict a suite; and how scores of a suite are read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.options import ReadOptions, Score, scores_of, with_groups
from gnomon.cli.progress import SearchOptions, announce, check_writable
from gnomon.errors import ScoreDataError, UnknownNameError

if TYPE_CHECKING:
    from gnomon.distillation import PreparedScores
    from gnomon.scores import ScoreTable

Names = list[str] | None
Outer = Literal["folds", "algorithms", "groups", "group-folds", "time", "none"]
References = Annotated[
    Path | None, typer.Option(help="CSV of task, random, human: scores become 0 to 100.")
]


def _checked(path: Path | None) -> Path | None:
    if path is not None and path.suffix.lower() not in (".svg", ".png", ".pdf"):
        raise ScoreDataError(f"{path}: expected a name that ends in .svg, .png or .pdf")
    return check_writable(path)


Picture = Annotated[
    Path | None, typer.Option(help="Draw to this file: .svg, .png or .pdf.", callback=_checked)
]


@dataclass(frozen=True, kw_only=True)
class SuiteScores(ReadOptions):
    """Where the scores of a suite are, and how they become a matrix."""

    source: Annotated[
        str, typer.Argument(help="A file or folder of scores, or the data set atari5.")
    ]
    summary: Annotated[str, typer.Option(help="median, mean, iqm, mean_log or above_human.")] = (
        "median"
    )
    transform: Annotated[str, typer.Option(help="log, identity or logit.")] = "log"
    references: Annotated[
        str | None,
        typer.Option(
            "--normalize", "--references",
            help="atari, procgen-easy, procgen-hard, dmc or minatar; or a CSV of task, random, "
            "human or task, low, high: scores become 0 to 100.",
        ),
    ] = None  # fmt: skip
    group_by: Annotated[
        str | None, typer.Option(help="The column that says what an algorithm comes from.")
    ] = None
    date_by: Annotated[
        str | None, typer.Option(help="The column of its year or date of publication.")
    ] = None
    exclude: Annotated[Names, typer.Option(help="A task to leave out; repeatable.")] = None
    least_tasks: Annotated[int, typer.Option(min=0, help="Fewest tasks of an algorithm.")] = 1
    least_algorithms: Annotated[int, typer.Option(min=0, help="Fewest algorithms of a task.")] = 1
    least_summary: Annotated[
        float | None, typer.Option(help="Algorithms whose summary is not above it are left out.")
    ] = None
    score: Score = None

    @cached_property
    def _table(self) -> ScoreTable | None:
        """The scores of a file; None for a data set."""
        from gnomon.scores.datasets import DATASETS

        if self.source in DATASETS and not Path(self.source).exists():
            return None
        return scores_of(Path(self.source), self.score, self)

    def prepared(self) -> PreparedScores:
        """Return the scores of a file, or of a data set as its authors prepare it."""
        from gnomon.distillation import prepare

        table = self._table
        if table is None:
            return self._data_set(self.source)
        return prepare(
            table,
            transform=self.transform,
            summary=self.summary,
            references=anchors_of(self.references, table),
            least_tasks=self.least_tasks,
            least_algorithms=self.least_algorithms,
            least_summary=self.least_summary,
            exclude=self.exclude or (),
            group_by=self.group_by,
            date_by=self.date_by,
        )

    def _data_set(self, name: str) -> PreparedScores:
        """Return a data set prepared as its authors do, but for what is asked otherwise."""
        from gnomon.distillation import atari
        from gnomon.scores.datasets import load_scores

        given: dict[str, Any] = {"normalize": self.references, "group-by": self.group_by}
        given["date-by"] = self.date_by
        given |= {"least-summary": self.least_summary, "score": self.score, "where": self.where}
        option = next((option for option, value in given.items() if value is not None), None)
        if option is not None:
            raise ScoreDataError(f"{name} is prepared as its authors do: no --{option}")
        standard = atari.atari_preparation(summary=self.summary)
        changed = replace(standard, transform=self.transform, exclude=self.exclude or ())
        return changed.apply(load_scores(name))


def _percent(text: str | None) -> float | None:
    """Return a share, from ``10%`` or ``0.1``."""
    if text is None:
        return None
    try:
        value = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise ScoreDataError(f"expected a share above 0, as 10% or 0.1; found {text!r}")
    return value


@dataclass(frozen=True)
class Goal:
    """How many tasks: those already run, and more; or what a budget pays, or an error needs."""

    have: Annotated[
        str | None,
        typer.Option(help="Tasks already run, with commas: the model for these."),
    ] = None
    add: Annotated[int, typer.Option(min=0, help="Choose so many more than --have.")] = 0
    costs: Annotated[Path | None, typer.Option(help="CSV of task, cost; with --budget.")] = None
    budget: Annotated[
        float | None, typer.Option(min=0, help="Choose what this total cost pays for.")
    ] = None
    target_error: Annotated[
        str | None, typer.Option(help="Choose the fewest tasks with this error: 10%.")
    ] = None

    def options(self) -> dict[str, Any]:
        """Return what :func:`gnomon.distillation.distill` takes."""
        have = [task.strip() for task in (self.have or "").split(",") if task.strip()]
        if self.add and not have:
            raise ScoreDataError("--add says how many more than --have: name the tasks there are")
        found: dict[str, Any] = {"have": have, "add": self.add, "budget": self.budget}
        return found | {
            "costs": costs_of(self.costs),
            "target_error": _percent(self.target_error),
        }


def costs_of(path: Path | None) -> dict[str, float] | None:
    """Return the cost of each task, of a file."""
    if path is None:
        return None
    from gnomon.scores.readers.named_numbers import named_numbers

    return {task: cost for task, (cost,) in named_numbers(path, "task", ["cost"]).items()}


@with_groups
def distill(
    size: Annotated[int, typer.Option(min=1, help="Number of tasks.")] = 5,
    procedure: Annotated[
        Names,
        typer.Option(help="factor, paper, paper-code, complete, auto; repeatable."),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many subsets to show.")] = 1,
    nested: Annotated[
        Outer, typer.Option(help="What the nested validation leaves out at a time.")
    ] = "folds",
    repeats: Annotated[int, typer.Option(min=1, help="Of the nested validation.")] = 1,
    folds: Annotated[int, typer.Option(min=2, help="Of both validations.")] = 10,
    force: Annotated[Names, typer.Option(help="A task that every subset has; repeatable.")] = None,
    model: Annotated[
        Path | None,
        typer.Option(help="Write the best model to this file.", callback=check_writable),
    ] = None,
    figure: Picture = None,
    page: Annotated[
        Path | None, typer.Option(help="Write a page to this file.", callback=check_writable)
    ] = None,
    next_for: Annotated[
        str | None,
        typer.Option(
            "--next", metavar="ALGORITHM", help="Recommend the next task to run for an algorithm."
        ),
    ] = None,
    half_width: Annotated[
        float, typer.Option(min=0, help="With --next: relative half width at which to stop.")
    ] = 0.25,
    *,
    goal: Goal,
    search: SearchOptions,
    scores: SuiteScores,
    as_json: JsonOption = False,
) -> None:
    """Find the few tasks that predict a suite's summary score, with the honest error beside it.

    With --next, the other algorithms of the table are the training, and --costs may stand alone.
    """
    from gnomon.distillation import distill as distilled
    from gnomon.distillation import next_steps

    with answering("distill", as_json=as_json) as answer:
        if next_for is not None:
            costs = costs_of(goal.costs)
            steps = next_steps(scores.prepared(), next_for, costs=costs, target=half_width)
            answer.show(steps)
            for note in () if steps else steps.notes:
                answer.say(note)
            return
        names, forced = procedure or ["factor"], force or ()
        if both := sorted(set(forced) & set(scores.exclude or ())):
            raise ScoreDataError(f"{both[0]} is both forced and excluded")
        options: dict[str, Any] = {"size": size, "top": top, "nested": nested, "folds": folds}
        options |= {"repeats": repeats, "force": forced, **goal.options()}
        data = scores.prepared()
        with search.begun("distil") as doing:
            counts = {"none": 0, "algorithms": len(data.algorithms)}
            counts |= {"groups": len({*data.groups})}
            if not (goal.have or goal.costs or goal.target_error):
                n_searches = 1 + counts.get(nested, folds * repeats)
                announce(data, size, names, n_searches, forced=forced)
            found = distilled(data, procedure=names, **options, **doing)
        answer.show(found, figure=figure)
        if model is not None:
            found.model.save(model)
            answer.say(f"written to {model}")
        if page is not None:
            from gnomon.reports import distillation_report

            with search.begun("page") as doing:
                sets = _sets_beside(scores.source, options)
                told = distillation_report(found, Path(scores.source).name, sets=sets, **doing)
            told.save_alone(page)
            answer.say(f"written to {page}")


def _sets_beside(source: str, options: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    """Return the sets that a page judges beside the chosen one: what was run, and a published."""
    sets: dict[str, Sequence[str]] = {"already run": options["have"]} if options["have"] else {}
    return sets | (_published_set(options["size"]) if source == "atari5" else {})


def _published_set(size: int) -> dict[str, tuple[str, ...]]:
    """Return the published set of that many games, by its name; nothing if there is none."""
    from gnomon.distillation import atari

    model = atari.published_models().get(f"Atari-{size}")
    return {} if model is None else {f"Atari-{size}": model.tasks}


def anchors_of(name: str | None, table: ScoreTable) -> dict[str, tuple[float, float]] | None:
    """Return the scores of each task that become 0 and 100, of a suite or of a file."""
    if name is None:
        return None
    from gnomon.scores.anchors import SUITES, anchors_of_suite, read_anchors

    suite = "atari" if name == "random-human" else name
    if suite not in SUITES and not (Path(name).suffix or Path(name).is_file()):
        raise UnknownNameError("normalization", name, ("FILE", *SUITES))
    found = anchors_of_suite(suite, table) if suite in SUITES else read_anchors(Path(name), table)
    for task, (zero, one) in found.items():
        if zero == one:
            raise ScoreDataError(f"{name}: expected two scores of {task} that differ")
    return found


def references_of(path: Path | None) -> dict[str, tuple[float, float]] | None:
    """Return the random and the human score of each task, of a file."""
    if path is None:
        return None
    from gnomon.scores.readers.named_numbers import named_numbers

    found: dict[str, tuple[float, float]] = {}
    for task, (random, human) in named_numbers(path, "task", ("random", "human")).items():
        if random == human:
            raise ScoreDataError(f"{path}: expected random and human of {task} to differ")
        found[task] = random, human
    return found
