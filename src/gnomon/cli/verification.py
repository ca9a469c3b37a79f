"""``gnomon verify``: whether a run is what it claims to be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnomon.cli.answer import Answer, JsonOption, answering
from gnomon.errors import LeaderboardError

if TYPE_CHECKING:
    from gnomon.leaderboard.seasons.assignment import Assignment
    from gnomon.leaderboard.verification.verify_run import Verdict

__all__ = ["verify"]

_MOST_SHOWN = 20


def verify(
    run: Annotated[Path, typer.Argument(help="A run folder; or a log, with --assignment.")],
    assignment: Annotated[
        Path | None,
        typer.Option(help="The config that a leaderboard assigned; it must have been played."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Play every attempt of a run again, and say where it differs from what the run tells."""
    from gnomon.leaderboard.seasons.assignment import Assignment
    from gnomon.leaderboard.verification.verify_run import verify_run

    with answering("verify", as_json=as_json) as answer:
        assigned = None if assignment is None else Assignment.from_toml(assignment)
        is_log = run.is_file()
        verdicts = _of_log(run, assigned) if is_log else list(verify_run(run, assignment=assigned))
        answer.results([verdict.as_record() for verdict in verdicts])
        refused = [verdict for verdict in verdicts if not verdict.ok]
        _show(answer, refused)
        answer.say(f"{run}: {len(verdicts)} trials, {len(refused)} refused")
        if assigned is None:
            _warn_of_yardsticks(answer, run)
    raise typer.Exit(1 if refused else 0)


def _of_log(log: Path, assigned: Assignment | None) -> list[Verdict]:
    """Verify a log that stands alone, such as one that a leaderboard gave to be downloaded."""
    from gnomon.leaderboard.verification.log_files import read_log_file
    from gnomon.leaderboard.verification.verify_run import verify_log

    if assigned is None:
        raise LeaderboardError(f"{log}: a log does not say what it plays: use --assignment")
    return list(verify_log(read_log_file(log), assigned))


def _show(answer: Answer, refused: list[Verdict]) -> None:
    """Show people the first verdicts that say no."""
    columns = ("learner", "rule", "trial", "episode", "attempt", "reason")
    answer.table([verdict.as_record() for verdict in refused[:_MOST_SHOWN]], columns)
    if len(refused) > _MOST_SHOWN:
        answer.say(f"and {len(refused) - _MOST_SHOWN} more")


def _warn_of_yardsticks(answer: Answer, folder: Path) -> None:
    """Say who would be refused on a board although every attempt is true."""
    from gnomon.experiments.run_folder import RunFolder

    for learner in RunFolder.open(folder).config.learners:
        if learner.is_shown_the_rule:
            answer.warn(f"{learner.name} was shown the rule: a leaderboard refuses it")
