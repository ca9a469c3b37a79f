"""The verb ``induction``: what players conclude about hidden rules, and where they fail."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli import JsonOption, Seed, answering, bar_of


def induction(
    sources: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Tables of outcomes, logs of inspect eval gohr/rule_learning, transcripts of "
            "people or exports of studies, and tables of the reference project.",
            readable=False,
        ),
    ] = None,
    learner: Annotated[
        list[str] | None, typer.Option(help="Measure this learner too; repeat for more.")
    ] = None,
    suite: Annotated[str, typer.Option(help="Rules for the learners.")] = "gohr-basic",
    tester: Annotated[
        list[str] | None,
        typer.Option(
            help="Whose attempts the learners see: own, random, positive, negative or "
            "informative; repeat for more.  [default: own and random]"
        ),
    ] = None,
    boards: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Boards of evidence; repeat for more.  [default: 5]"),
    ] = None,
    trials: Annotated[int, typer.Option(min=1, help="Trials on each rule.")] = 10,
    save: Annotated[Path | None, typer.Option(help="Write all outcomes to this CSV file.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write a page: a folder or a .html file.")
    ] = None,
    forecast: Annotated[
        bool,
        typer.Option(help="Print requests and tokens of the Inspect task instead of results."),
    ] = False,
    seed: Seed = 0,
    as_json: JsonOption = False,
) -> None:
    """Show what players conclude about hidden rules from evidence.

    A player sees attempts, then plans its moves on five test boards without feedback. The
    comparison with an ideal observer shows whether poor tests or poor inference cost boards.

    Example:
      gohr induction --learner ideal --learner tabular_q
      gohr induction logs --learner ideal --out page.html
    """
    from gnomon.errors import GnomonError
    from gohr.induction import Induction, measure, read_outcomes

    testers = tester or ["own", "random"]
    page = out if out is not None and out.suffix.lower() == ".html" else None
    reads, writes = sources or (), (save, page)
    with answering("induction", as_json=as_json, reads=reads, writes=writes) as answer:
        if forecast:
            from gohr.integrations.words import forecast_of

            answer.show(
                forecast_of(suite, testers, n_boards=boards or [5], trials=trials, seed=seed)
            )
            return
        if not sources and not learner:
            raise GnomonError("expected tables or logs to read, or --learner NAME; found neither")
        found = read_outcomes(*sources or ())
        if learner:
            with bar_of("trials") as progress:
                found = Induction(
                    (
                        *found,
                        *measure(
                            learner,
                            suite,
                            testers,
                            n_boards=boards or [5],
                            trials=trials,
                            seed=seed,
                            progress=progress,
                        ),
                    )
                )
        if save is not None:
            found.write(save)
        if out is not None:
            from gohr.induction.diagnosis_page import write_induction

            answer.say(str(write_induction(found, out)))
        answer.show(found.solved())
        for results in (found.cells(), found.losses()):
            if results:
                answer.show(results)
        ranking = found.ranking()
        if ranking is not None:
            answer.show(ranking)
        for sentence in found.sentences():
            answer.say(sentence)
