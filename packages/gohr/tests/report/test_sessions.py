"""How a run was played, in the report: sessions, machine, versions, boards."""

from __future__ import annotations

import re
import shutil

from gohr.experiments import ExperimentConfig, RunFolder, run
from gohr.run_page import report


def told(folder: RunFolder) -> str:
    """Return the page of a run without its tags."""
    page = report(folder.path).read_text().replace("\xa0", " ")
    return " ".join(re.sub("<[^>]*>", " ", page).split())


def test_sessions_are_described(lonely_folder, tmp_path):
    shutil.copytree(lonely_folder.path, tmp_path / "run")
    folder = RunFolder.open(tmp_path / "run")
    [session] = folder.sessions
    text = told(folder)
    for row in (
        f"begun {session['begun'][:16].replace('T', ' ')} UTC",
        "workers 1 process",
        f"time to play {session['wall_time_s']:,.1f} s",
        f"{session['platform']} versions",
        f"numpy {session['packages']['numpy']}",
    ):
        assert row in text
    assert "stopped" not in text

    killed = session | {"ended": None, "workers": 2, "scheduler": "local"}
    with folder.store.writing() as writer:
        writer.set_value("sessions", [session, killed])
    text = told(folder)
    assert "UTC and in 1 later session" in text
    assert "workers 1 process; then 2 processes, a local Dask cluster" in text
    assert "stopped 1 session did not finish" in text


def test_boards_that_are_given_are_shown_and_said_to_be(tmp_path):
    easy = [7] + [0] * 35
    values = {
        "name": "given",
        "rules": ["clockwise"],
        "learners": ["uniform"],
        "trials": 1,
        "episodes": 2,
        "board": {"boards": [easy, [7] * 36], "order": "random"},
    }
    folder = run(ExperimentConfig.from_record(values), tmp_path / "run").folder
    page = report(folder.path)
    text = page.read_text()
    assert "2 boards given by the experiment, each once in random order, then again" in text
    assert "The first of 2 given boards" in text
    # The header, and the only piece of the first board.
    assert (page.parent / "figures" / "board.csv").read_text().count("\n") == 2
