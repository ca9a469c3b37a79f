"""How a run was played, in the report: from its card, whatever somebody may have made of it."""

from __future__ import annotations

from gohr.experiments import ExperimentConfig, run
from gohr.experiments.card import CARD, read_card
from gohr.run_page import report
from gohr.run_page.card import session_rows


def test_what_the_card_of_a_run_tells(run_folder):
    card = read_card(run_folder.path)
    (session,) = card["sessions"]
    rows = dict(session_rows(card))
    assert list(rows) == ["begun", "workers", "time to play", "computer", "versions"]
    assert rows["begun"] == session["begun"][:16].replace("T", " ") + " UTC"
    assert rows["workers"] == "1 process"
    assert f"{session['wall_time_s']:,.1f} s" in rows["time to play"]
    assert session["platform"] in rows["computer"]
    assert f"numpy {session['packages']['numpy']}" in rows["versions"]


def test_several_sessions():
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
    assert session_rows({"suites": ["nearby 1"], "sessions": sessions}) == (
        ("suites", "nearby 1"),
        ("begun", "2026-01-01 10:00 UTC and in 1 later session"),
        (
            "workers",
            "2 processes; then 4 processes, a local Dask cluster; then a remote Dask cluster",
        ),
        ("time to play", "60.0 s, of which trials kept processors busy for 90.2 s"),
        ("stopped", "1 session did not come to an end"),
        ("computer", "A"),
    )


def test_no_card_and_a_foreign_one_stop_no_report(tmp_path):
    config = ExperimentConfig("one", ["clockwise"], ["uniform"], trials=1, episodes=2)
    folder = run(config, tmp_path / "run").folder
    for value in ({"sessions": [3, {"workers": "many", "packages": 7}], "suites": 5}, [], {}):
        with folder.store.writing() as writer:
            writer.set_value(CARD, value)
        assert report(folder.path, n_resamples=50).is_file()
    with folder.store.writing() as writer:
        writer.set_value(CARD, None)
    assert "How it was made" in report(folder.path, n_resamples=50).read_text()


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
