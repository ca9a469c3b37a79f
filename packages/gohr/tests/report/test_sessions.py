"""How a run was played, in the report: from its card, whatever somebody may have made of it."""

from __future__ import annotations

import re
import shutil

import pytest

from gohr.experiments import ExperimentConfig, RunFolder, read_card, run
from gohr.run_page import report


def told(folder: RunFolder) -> str:
    """Return the page of a run without its tags."""
    page = report(folder.path, n_resamples=50).read_text().replace("\xa0", " ")
    return " ".join(re.sub("<[^>]*>", " ", page).split())


@pytest.fixture
def folder(lonely_folder, tmp_path) -> RunFolder:
    """A copy of a run, whose card may be changed."""
    shutil.copytree(lonely_folder.path, tmp_path / "run")
    return RunFolder.open(tmp_path / "run")


def write_card(folder: RunFolder, card: object) -> None:
    with folder.store.writing() as writer:
        writer.set_value("card", card)


def test_what_the_card_of_a_run_tells(folder):
    (session,) = read_card(folder.path)["sessions"]
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


def test_several_sessions(folder):
    sessions = [
        {"begun": "2026-01-01T10:00:00+00:00", "ended": None, "workers": 2, "cpu": "A"},
        {"ended": "2026-01-01T12:00:00+00:00", "workers": 4, "scheduler": "local"},
        {
            "begun": "2026-01-02T10:00:00+00:00",
            "ended": "2026-01-02T10:01:00+00:00",
            "workers": 3,
            "scheduler": "remote",
            "cpu": "A",
            "wall_time_s": 60,
            "cpu_time_s": 90.25,
        },
    ]
    write_card(folder, {"suites": ["nearby 1"], "sessions": sessions})
    text = told(folder)
    for row in (
        "suites nearby 1",
        "begun 2026-01-01 10:00 UTC and in 1 later session",
        "workers 2 processes; then 4 processes, a local Dask cluster; then a remote Dask cluster",
        "time to play 60.0 s, of which trials kept processors busy for 90.2 s",
        "stopped 1 session did not come to an end",
        "computer A",
    ):
        assert row in text


def test_no_card_and_a_foreign_one_stop_no_report(folder):
    strange = {"sessions": [3, {"workers": "many", "packages": 7}], "suites": 5}
    for card in (strange, [], {}, None):
        write_card(folder, card)
        assert "How it was made" in told(folder)


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
    page = report(folder.path, n_resamples=50)
    text = page.read_text()
    assert "2 boards given by the experiment, each once in random order, then again" in text
    assert "The first of 2 given boards" in text
    # The header, and the only piece of the first board.
    assert (page.parent / "figures" / "board.csv").read_text().count("\n") == 2
