"""How long a hidden season takes over loopback: server and learner on one machine."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.record import Measurement
from gnomon_board.client import Client
from gnomon_board.remote_play import RemotePlan, play_remotely

GNOMON = [sys.executable, "-m", "gnomon_board"]
SEASON = """
name = "{name}"
division = "hidden"
episodes = 200
[hidden]
rules = {rules}
"""
#: Rules of the catalogue, the same in each run: with drawn ones the number of attempts varies.
RULES = (
    *("color-match", "across", "anywhere-but-far", "as-one-reads", "as-one-reads-backwards"),
    *("b0-then-b2", "b23-then-b01", "b3-then-b1", "border-and-inside", "bottommost-first"),
    *("by-diagonals", "checkerboard", "clockwise", "clockwise-from-b0", "clockwise-one-or-two"),
    *(
        "color-across",
        "color-clockwise",
        "color-in-pairs",
        "color-odd-one-out",
        "color-two-buckets",
    ),
)


def measure() -> Iterator[Measurement]:
    """Play one trial of 200 episodes alone, and twenty at a time."""
    with tempfile.TemporaryDirectory() as folder, _served(Path(folder)) as (url, token):
        for trials in (1, len(RULES)):
            name = f"s{trials}"
            file = Path(folder) / f"{name}.toml"
            file.write_text(SEASON.format(name=name, rules=list(RULES[:trials])))
            _gnomon("season", "new", str(file), "--data", f"{folder}/data")
            learner = {"kind": "linear_dqn", "actions": "occupied"}
            plan = RemotePlan.from_record({"season": name, "entry": "DQN", "learner": learner})
            start = time.perf_counter()
            summary = play_remotely(plan, Client(url, token, patience_s=90.0))
            seconds = time.perf_counter() - start
            rate = summary["n_attempts"] / seconds
            yield Measurement(
                f"{trials} at a time",
                seconds / trials,
                "s/trial",
                10.0,
                higher_is_better=False,
                note=f"200 episodes; {rate:.0f} attempts/s, each committed before its reply",
            )


@contextmanager
def _served(folder: Path) -> Iterator[tuple[str, str]]:
    """Serve a new board, and end it."""
    command = [*GNOMON, "serve", "--data", str(folder / "data"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = re.search(r"http://\S+", process.stdout.readline())
            token = re.search(r"gnomon_\S+", process.stdout.readline())
            assert url is not None
            assert token is not None
            yield url[0], token[0]
        finally:
            process.terminate()


def _gnomon(*arguments: str) -> None:
    subprocess.run([*GNOMON, *arguments], check=True, stdout=subprocess.DEVNULL)
