"""The verbs ``distill`` and ``predict``: few tasks that predict the summary score of a suite."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnomon.cli.answer import JsonOption, answering, bar_of
from gnomon.cli.options import Figure, Level, Score, ScoreOptions, Seed, Where, with_groups
from gnomon.cli.sources import Sources
from gnomon.errors import ScoreDataError

if TYPE_CHECKING:
    from gnomon.distillation.preparation import PreparedScores
    from gnomon.scores import ScoreTable

Normalize = Annotated[
    str | None,
    typer.Option(
        help="Scale scores to 0 to 100: atari, procgen-easy, procgen-hard, dmc or minatar; or a "
        "CSV file of task, low, high (or task, random, human)."
    ),
]


@dataclass(frozen=True, kw_only=True)
class SuiteScores(ScoreOptions):
    """Where the scores of a suite are, and how they become a matrix."""

    source: Annotated[
        str, typer.Argument(help="A file or folder of scores, or the data set atari5.")
    ]
    summary: Annotated[str, typer.Option(help="Summary score: median, mean, iqm or mean_log.")] = (
        "median"
    )
    transform: Annotated[
        str, typer.Option(help="log, or identity for scores that are comparable as they are.")
    ] = "log"
    normalize: Normalize = None
    group_by: Annotated[
        str | None, typer.Option(help="Column of the paper or family of an algorithm.")
    ] = None
    date_by: Annotated[str | None, typer.Option(help="Column of the date of publication.")] = None
    exclude: Annotated[list[str] | None, typer.Option(help="Task to leave out; repeatable.")] = None

    def prepared(self) -> PreparedScores:
        """Return the scores of a file, or of the data set as the Atari-5 paper prepares it."""
        from gnomon.distillation import atari, prepare

        options: dict[str, Any] = {"summary": self.summary, "transform": self.transform}
        options["exclude"] = self.exclude or ()
        if self.source == "atari5" and not Path(self.source).exists():
            given = {"normalize": self.normalize, "group-by": self.group_by, "where": self.where}
            given |= {"date-by": self.date_by, "score": self.score}
            for option, value in given.items():
                if value is not None:
                    raise ScoreDataError(f"atari5 is prepared as in the paper: omit --{option}")
            return atari.paper_scores(**options)
        options |= {"group_by": self.group_by, "date_by": self.date_by}
        return prepare(_scaled(self, [self.source]), **options)


@with_groups
def distill(
    size: Annotated[
        int | None, typer.Option(min=1, help="Number of tasks, including --have. [default: 5]")
    ] = None,
    procedure: Annotated[str, typer.Option(help="factor, or paper (that of Atari-5).")] = "factor",
    have: Annotated[
        str | None, typer.Option(help="Tasks already run, separated by commas.")
    ] = None,
    model: Annotated[Path | None, typer.Option(help="Write the model to this file.")] = None,
    figure: Figure = None,
    seed: Seed = 0,
    *,
    scores: SuiteScores,
    as_json: JsonOption = False,
) -> None:
    """Find the few tasks that predict a suite's summary.

    Example:
      gnomon distill scores.csv --size 5 --model small-suite.json
    """
    from gnomon.distillation import distill as distilled

    reads, writes = (scores.source, scores.normalize), [model]
    with answering("distill", as_json=as_json, figure=figure, reads=reads, writes=writes) as answer:
        tasks = [task.strip() for task in (have or "").split(",") if task.strip()]
        data = scores.prepared()
        with bar_of("distil") as progress:
            found = distilled(
                data, size=size, procedure=procedure, have=tasks, rng=seed, progress=progress
            )
        answer.show(found)
        if model is not None:
            found.model.save(model)
            answer.say(f"written to {model}")


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
        bool,
        typer.Option(
            "--normalized", help="The scores are on the model's scale already (0 to 100)."
        ),
    ] = False,
    level: Level = 0.9,
    score: Score = None,
    where: Where = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Predict summary scores from a few tasks.

    Example:
      gnomon predict model.json new.csv
      gnomon predict atari-5 my-runs.csv
    """
    from gnomon.distillation import predict as predicted

    with answering("predict", as_json=as_json) as answer:
        table = _scaled(ScoreOptions(score=score, where=where, normalize=normalize), source)
        answer.show(predicted(model, table, pair=pair, normalized=normalized, level=level))


def _scaled(scores: ScoreOptions, source: list[str]) -> ScoreTable:
    """Return scores of a source, on a scale that does not depend on the algorithms in it."""
    if (scores.normalize or "").partition(":")[0] in ("min-max", "reference"):
        raise ScoreDataError(
            f"--normalize {scores.normalize}: this scale changes with the algorithms of the table, "
            "but a model is applied to others; write two fixed scores of each task to a CSV file "
            "of task, low, high and give its name"
        )
    return scores.normalized(scores.table(source))
