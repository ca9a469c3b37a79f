"""Pages of the command line, made from ``--help`` while the site is built.

A hook of MkDocs: each command has one page, each verb a section with what its ``--help`` prints.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from unittest import mock

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import gnomon.cli
import gnomon_board.cli
import gohr.cli

COMMANDS = {
    "gnomon": gnomon.cli.COMMAND,
    "gohr": gohr.cli.COMMAND,
    "board": gnomon_board.cli.COMMAND,
}


def page(part: str) -> str:
    """Return the page of a command, as Markdown."""
    command = COMMANDS[part]
    root = typer.main.get_command(command.application())
    sections = [
        f"# The command {command.name}",
        f"{command.summary} Each section is what `{command.name} VERB --help` prints. Results go "
        "to standard output, messages to standard error; `--json` prints one JSON object. The exit "
        "status is 0 for done, 1 if the answer is no, and 2 for misuse or bad input.",
        *_sections(root, command.name, None),
    ]
    return "\n\n".join(sections) + "\n"


def _sections(command: typer.core.TyperGroup, path: str, parent: object) -> Iterator[str]:
    context = typer.Context(command, info_name=path, parent=parent)
    for name, verb in command.commands.items():
        if hasattr(verb, "commands"):
            yield from _sections(verb, f"{path} {name}", None)
            continue
        with (
            mock.patch.dict(os.environ, {"COLUMNS": "96"}),
            typer.Context(verb, info_name=name, parent=context) as inner,
        ):
            yield f"## {path.partition(' ')[2]} {name}".replace("##  ", "## ")
            yield f"```text\n{verb.get_help(inner).rstrip()}\n```"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page of each command."""
    for part in COMMANDS:
        files.append(File.generated(config, f"{part}/commands.md", content=page(part)))
    return files
