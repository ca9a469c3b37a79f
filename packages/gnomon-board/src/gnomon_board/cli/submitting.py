"""``gnomon-board register`` and ``gnomon-board submit``: a learner's way onto a leaderboard."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli import JsonOption, answering

ServerOption = Annotated[
    str, typer.Option("--to", envvar="GNOMON_SERVER", help="The leaderboard: http://HOST:PORT.")
]
TokenOption = Annotated[
    str, typer.Option("--token", envvar="GNOMON_TOKEN", help="An API token of the leaderboard.")
]
AgainOption = Annotated[
    bool,
    typer.Option("--again", help="Request another assignment, of other boards; it is counted."),
]
InsecureOption = Annotated[
    bool, typer.Option("--insecure", help="Send the token over http:// to another machine.")
]


def register(
    season: Annotated[str, typer.Argument(help="The season.")],
    name: Annotated[str, typer.Argument(help="Name of the learner on the board.")],
    to: ServerOption,
    token: TokenOption,
    out: Annotated[
        Path | None, typer.Option(help="Write the assignment to this TOML file.")
    ] = None,
    learner: Annotated[str, typer.Option(help="Learner to write into the file.")] = "uniform",
    description: Annotated[str, typer.Option(help="Description, as plain text.")] = "",
    again: AgainOption = False,
    insecure: InsecureOption = False,
    as_json: JsonOption = False,
) -> None:
    """Register a learner in a season, and write its assignment.

    Only rules, boards, numbers and the seed are taken from the server's answer. A file that exists
    is not replaced.

    Example:
      gnomon-board register spring "My DQN" --learner linear_dqn --out assigned.toml
    """
    from gnomon.text_files import write_atomically
    from gnomon_board import Client
    from gnomon_board.errors import LeaderboardError

    with answering("register", as_json=as_json, writes=(out,)) as answer:
        if out is not None and out.exists():
            raise LeaderboardError(
                f"{out}: exists, and is not replaced; give another file (--out), or remove it"
            )
        if out is not None and not os.access(out.parent, os.W_OK):
            raise LeaderboardError(
                f"{out.parent}: expected a folder that you may write to; give another file (--out)"
            )
        client = Client(to, token, insecure=insecure)
        entry = client.entry(season, name, description=description)
        if again:
            entry = client.next_attempt(entry["id"])
        answer.results([entry])
        answer.say(f"{entry['name']} is entry {entry['id']} of {entry['season']}")
        if out is not None:
            last = max(attempt["number"] for attempt in entry["attempts"])
            assigned = client.assignment(entry["id"], last)
            write_atomically(out, assigned.to_toml(learner).encode())
            answer.say(f"assignment {last} is in {out}, with the learner {learner}: gohr run {out}")


def submit(
    folder: Annotated[Path, typer.Argument(help="A run folder.")],
    to: ServerOption,
    token: TokenOption,
    learner: Annotated[
        str | None, typer.Option(help="Learner to submit, if the run has several.")
    ] = None,
    wait_s: Annotated[float, typer.Option(min=0, help="Seconds to wait for the verdict.")] = 600.0,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Send it even if the server will refuse it.")
    ] = False,
    insecure: InsecureOption = False,
    as_json: JsonOption = False,
) -> None:
    """Verify a run, submit it to a leaderboard, and print the verdict.

    Example:
      gnomon-board submit run --to https://board.example.org
    """
    from gnomon_board import Client
    from gnomon_board import submit as send

    with answering("submit", as_json=as_json) as answer:
        client = Client(to, token, insecure=insecure)
        record = send(client, folder, learner, wait_s=wait_s, anyway=anyway)
        answer.results([record])
        which = f"submission {record['id']}" if record["id"] else str(folder)
        answer.say(f"{which}: {record['state']}: {record['reason']}")
    raise typer.Exit(0 if record["state"] in ("verified", "queued", "verifying") else 1)
