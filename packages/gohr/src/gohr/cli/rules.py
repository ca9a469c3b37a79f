"""``gohr rules``: the library, families of rules, and mistakes in rule texts."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli import JsonOption, answering
from gnomon.errors import GnomonError, counted
from gohr.errors import RuleSyntaxError

#: States of play to look at for a board on which a rule gets stuck.
_STATES = 1000

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="List, show, check, draw and compare hidden rules.",
)


@app.command("list")
def list_rules(
    family: Annotated[str | None, typer.Option(help="Only the rules of this family.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the rules that come with Gnomon.

    Example:
      gohr rules list --family memory
    """
    from gohr.rules.catalogue import available_rules, rule_info

    with answering("rules list", as_json=as_json) as answer:
        infos = [asdict(rule_info(name)) for name in available_rules(family)]
        columns = ("name", "family", "tags", "title")
        answer.records([{name: info[name] for name in columns} for info in infos], columns)


@app.command()
def show(
    rule: Annotated[str, typer.Argument(help="A rule of the library, a suite, or a file.")],
    as_json: JsonOption = False,
) -> None:
    """Show a rule as text and in words, or the rules of a suite.

    Example:
      gohr rules show clockwise
    """
    from gohr.experiments.suites import available_suites, load_suite
    from gohr.rules.catalogue import info_of, read_rule_text
    from gohr.rules.paraphrase import explain
    from gohr.rules.parser import parse

    with answering("rules show", as_json=as_json) as answer:
        if rule in available_suites():
            suite = load_suite(rule)
            answer.results([{"name": one.name, "text": one.text} for one in suite.entries])
            texts = (f"{one.name}\n{one.text.rstrip()}" for one in suite.entries)
            answer.say("\n\n".join((f"{suite.full_name}: {suite.sentence}", *texts)))
            return
        text = read_rule_text(rule)
        try:
            rule_set = parse(text)
        except RuleSyntaxError as error:
            raise error.in_file(rule) from None
        words = explain(rule_set)
        answer.results([asdict(info_of(rule, rule_set)) | {"text": text, "words": words}])
        answer.say(f"{text.rstrip()}\n\n{words}")


@app.command()
def check(
    files: Annotated[list[str], typer.Argument(help="Rule files, or rules of the library.")],
    states: Annotated[
        int,
        typer.Option(
            min=0,
            help="States to visit in the search for a board on which a rule gets stuck; 0: none.",
        ),
    ] = _STATES,
    as_json: JsonOption = False,
) -> None:
    """Find likely mistakes in rules, and suggest remedies.

    Exit status: 0 if there are only notes, 1 for an error or a warning, 2 if a file cannot be read.

    Example:
      gohr rules check my-rule.txt
    """
    from gohr.rule_check import check as checked_rule
    from gohr.rules.catalogue import read_rule_text

    status = 0
    with answering("rules check", as_json=as_json) as answer:
        for file in files:
            try:
                text = read_rule_text(file)
            except GnomonError as error:
                status = 2
                answer.warn(str(error))
                continue
            checked = checked_rule(text, name=file, max_states=states)
            status = max(status, 0 if checked.passes else 1)
            answer.results(checked.records())
            answer.say(str(checked))
    raise typer.Exit(status)


@app.command("draw")
def draw(
    template: Annotated[
        str | None, typer.Argument(help="A template of the library, or a file.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The new folder to write the rules to.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Draw all rules of a template; without one, list the templates.

    Example:
      gohr rules draw cycle-of-two --out rules
    """
    from gohr.rules.templates import draw_rules, load_template, template_records, write_rules

    with answering("rules draw", as_json=as_json) as answer:
        if template is None:
            if out is not None:
                raise typer.BadParameter("expected a template before it", param_hint="--out")
            answer.records(template_records())
            return
        family = list(draw_rules(load_template(template), name=Path(template).stem))
        answer.results([asdict(rule) for rule in family])
        if out is None:
            answer.say("\n\n".join(f"## {rule.name}\n{rule.text.strip()}" for rule in family))
        else:
            write_rules(family, out)
            answer.say(f"{counted(len(family), 'rule')} written to {out}")


@app.command()
def equivalent(
    a: Annotated[str, typer.Argument(help="A rule of the library, or a file.")],
    b: Annotated[str, typer.Argument(help="Another one.")],
    as_json: JsonOption = False,
) -> None:
    """Decide whether two rules accept the same attempts.

    Exit status: 0 if no difference is found, 1 if a board shows one.

    Example:
      gohr rules equivalent clockwise my-rule.txt
    """
    from gohr.equivalence import equivalent
    from gohr.rules.catalogue import resolve_rule

    with answering("rules equivalent", as_json=as_json) as answer:
        found = equivalent(resolve_rule(a), resolve_rule(b))
        record = asdict(found) | {"board": None if found.board is None else str(found.board)}
        answer.results([{"a": a, "b": b, **record}])
        answer.say(str(found))
    raise typer.Exit(0 if found else 1)
