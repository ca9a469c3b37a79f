"""The scores of a suite, as every verb about its tasks reads and prepares them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnomon.cli.named_numbers import named_numbers
from gnomon.cli.score_options import ReadOptions, Score, scores_of
from gnomon.errors import ScoreDataError

if TYPE_CHECKING:
    from gnomon.distill.prepared import PreparedScores

__all__ = ["Names", "References", "SuiteScores", "references_of"]

Names = list[str] | None
References = Annotated[
    Path | None, typer.Option(help="CSV of task, random, human: scores become 0 to 100.")
]


@dataclass(frozen=True, kw_only=True)
class SuiteScores(ReadOptions):
    """Where the scores of a suite are, and how they become a matrix."""

    source: Annotated[
        str, typer.Argument(help="A file of scores, a run folder, or the data set atari5.")
    ]
    summary: Annotated[str, typer.Option(help="median, mean, iqm, mean_log or above_human.")] = (
        "median"
    )
    transform: Annotated[str, typer.Option(help="log, identity or logit.")] = "log"
    references: References = None
    group_by: Annotated[
        str | None, typer.Option(help="The column that says what an algorithm comes from.")
    ] = None
    exclude: Annotated[Names, typer.Option(help="A task to leave out; repeatable.")] = None
    least_tasks: Annotated[int, typer.Option(min=0, help="Fewest tasks of an algorithm.")] = 1
    least_algorithms: Annotated[int, typer.Option(min=0, help="Fewest algorithms of a task.")] = 1
    least_summary: Annotated[
        float | None, typer.Option(help="Algorithms whose summary is not above it are left out.")
    ] = None
    score: Score = None

    def prepared(self) -> PreparedScores:
        """Return the scores of a file, or of a data set as its authors prepare it."""
        from gnomon.distill.preparation import Preparation
        from gnomon.scores.datasets import DATASETS

        if self.source in DATASETS and not Path(self.source).exists():
            return self._data_set(self.source)
        preparation = Preparation(
            transform=self.transform,
            summary=self.summary,
            references=references_of(self.references),
            least_tasks=self.least_tasks,
            least_algorithms=self.least_algorithms,
            least_summary=self.least_summary,
            excluded=tuple(self.exclude or ()),
            group_by=self.group_by,
        )
        table = scores_of(Path(self.source), self.score, self)
        return preparation.apply(table.last_step())

    def _data_set(self, name: str) -> PreparedScores:
        """Return a data set prepared as its authors do, but for what is asked otherwise."""
        from gnomon.distill.atari.facts import atari_preparation
        from gnomon.scores.datasets import load_scores

        given: dict[str, Any] = {"references": self.references, "group-by": self.group_by}
        given |= {"least-summary": self.least_summary, "score": self.score, "where": self.where}
        option = next((option for option, value in given.items() if value is not None), None)
        if option is not None:
            raise ScoreDataError(f"{name} is prepared as its authors do: no --{option}")
        standard = atari_preparation(summary=self.summary)
        excluded = tuple(self.exclude or ())
        changed = replace(standard, transform=self.transform, excluded=excluded)
        return changed.apply(load_scores(name))


def references_of(path: Path | None) -> dict[str, tuple[float, float]] | None:
    """Return the random and the human score of each task, of a file."""
    if path is None:
        return None
    found = named_numbers(path, "task", ("random", "human"))
    for task, (random, human) in found.items():
        if random == human:
            raise ScoreDataError(f"{path}: expected random and human of {task} to differ")
    return {task: (random, human) for task, (random, human) in found.items()}
