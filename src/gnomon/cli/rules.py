"""``gnomon rules``: the catalogue, and what is wrong with a rule of one's own."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from gnomon.cli.answer import JsonOption, answering
from gnomon.errors import RuleSyntaxError

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="List, show and check hidden rules.")


@app.command("list")
def list_rules(
    family: Annotated[str | None, typer.Option(help="Only the rules of this family.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the rules that come with Gnomon."""
    from gnomon.rules.catalogue import available_rules, rule_info

    with answering("rules list", as_json=as_json) as answer:
        infos = [asdict(rule_info(name)) for name in available_rules(family)]
        columns = ("name", "family", "tags", "title")
        answer.records([{name: info[name] for name in columns} for info in infos], columns)


@app.command()
def show(
    rule: Annotated[str, typer.Argument(help="A rule of the catalogue, or a file.")],
    as_json: JsonOption = False,
) -> None:
    """Show the text of a rule."""
    from pathlib import Path

    from gnomon.rules.catalogue import available_rules, info_of, load_rule_text, resolve_rule

    with answering("rules show", as_json=as_json) as answer:
        rule_set = resolve_rule(rule)
        text = load_rule_text(rule) if rule in available_rules() else Path(rule).read_text("utf-8")
        answer.results([asdict(info_of(rule, rule_set)) | {"text": text}])
        answer.say(text.rstrip("\n"))


@app.command()
def check(
    files: Annotated[list[str], typer.Argument(help="Rule files, or rules of the catalogue.")],
    as_json: JsonOption = False,
) -> None:
    """Say whether rules parse, and if not, where and why; exit status 1 if one does not."""
    from gnomon.rules.catalogue import resolve_rule

    wrong = False
    with answering("rules check", as_json=as_json) as answer:
        for file in files:
            try:
                n_lines = len(resolve_rule(file).lines)
                answer.say(f"{file}: {n_lines} line{'s' * (n_lines > 1)}, nothing wrong")
            except RuleSyntaxError as error:
                wrong = True
                answer.say(str(error))
                answer.results([_finding(file, error)])
    raise typer.Exit(1 if wrong else 0)


def _finding(file: str, error: RuleSyntaxError) -> dict[str, str | int | None]:
    return {
        "file": file,
        "line": error.line,
        "column": error.column,
        "severity": "error",
        "message": error.message,
        "remedy": None,
    }
