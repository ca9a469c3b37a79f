"""``gohr verify``: what it prints, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gohr.cli import main
from gohr.experiments import ExperimentConfig, Run, run, write_log
from runs import edit

CONFIG = ExperimentConfig("small", ["clockwise"], ["uniform"], trials=2, episodes=3)


@pytest.fixture
def folder(tmp_path: Path) -> Run:
    return run(CONFIG, tmp_path / "run")


def status_of(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> int:
    monkeypatch.setattr("sys.argv", ["gohr", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        main()
    return int(stop.value.code or 0)


def test_an_honest_run(folder, monkeypatch, capsys):
    assert status_of(monkeypatch, "verify", folder.path) == 0
    assert capsys.readouterr().out.strip() == f"{folder.path}: 2 trials, 0 refused"


def test_as_json(folder, monkeypatch, capsys):
    assert status_of(monkeypatch, "verify", folder.path, "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["command"] == "verify"
    assert answer["results"][1] == {
        "learner": "uniform",
        "rule": "clockwise",
        "trial": 1,
        "ok": True,
        "episode": None,
        "attempt": None,
        "reason": "",
    }


def test_a_run_that_misses_a_trial(folder, monkeypatch, capsys):
    edit(folder, "UPDATE trials SET attempts = NULL WHERE key = ?", folder.trials()[1].key)
    assert status_of(monkeypatch, "verify", folder.path) == 1
    assert capsys.readouterr().out.strip().endswith("2 trials, 1 refused")
    assert status_of(monkeypatch, "verify", folder.path, "--json") == 1
    # Not looked for in the table, which breaks lines.
    assert "damaged: trial 1 of uniform on clockwise" in capsys.readouterr().out


def test_what_was_assigned(folder, monkeypatch, capsys, tmp_path):
    assigned = tmp_path / "assigned.toml"
    assigned.write_text(CONFIG.to_toml())
    assert status_of(monkeypatch, "verify", folder.path, "--assignment", assigned) == 0
    other = ExperimentConfig("o", ["clockwise"], ["uniform"], seed=5)
    assigned.write_text(other.to_toml())
    assert status_of(monkeypatch, "verify", folder.path, "--assignment", assigned) == 1
    assert "differs from the assignment: trials: expected 20, found 2" in capsys.readouterr().out


def test_a_yardstick_is_warned_of(tmp_path, monkeypatch, capsys):
    config = ExperimentConfig("r", ["clockwise"], ["rule_player"], trials=1, episodes=3)
    run(config, tmp_path / "run")
    assert status_of(monkeypatch, "verify", tmp_path / "run") == 0
    assert "rule_player was shown the rule" in capsys.readouterr().err


def test_what_is_no_run_folder(tmp_path, monkeypatch, capsys):
    assert status_of(monkeypatch, "verify", tmp_path) == 2
    assert "not a run folder" in capsys.readouterr().err
    assert status_of(monkeypatch, "verify", tmp_path, "--assignment", tmp_path / "none") == 2


def test_a_log_alone(folder, monkeypatch, capsys, tmp_path):
    assigned = tmp_path / "assigned.toml"
    assigned.write_text(CONFIG.to_toml())
    trials = {(x.rule, x.trial): each for x, each in folder.each(folder.trials())}
    log = tmp_path / "log.zip"
    log.write_bytes(write_log(trials))
    assert status_of(monkeypatch, "verify", log, "--assignment", assigned) == 0
    assert capsys.readouterr().out.strip() == f"{log}: 2 trials, 0 refused"
    assert status_of(monkeypatch, "verify", log) == 2
    assert "use --assignment" in capsys.readouterr().err
    trials["clockwise", 0] = trials["clockwise", 1]
    log.write_bytes(write_log(trials))
    assert status_of(monkeypatch, "verify", log, "--assignment", assigned) == 1
    capsys.readouterr()
    log.write_bytes(b"nothing")
    assert status_of(monkeypatch, "verify", log, "--assignment", assigned) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"gohr: {log}: expected a log, ")
    assert error.count("\n") == 1
