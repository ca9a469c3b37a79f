"""The command of the game as a process of its own: what a shell sees."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gohr.experiments import ExperimentConfig, run
from runs import n_recorded

GOHR = [sys.executable, "-W", "error", "-c", "from gohr.cli import main; main()"]

LONG = """
name = "long"
rules = ["clockwise"]
learners = ["uniform"]
trials = 2000
"""


def gohr(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*GOHR, *arguments], cwd=cwd, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    ("verb", "heavy"),
    [
        ("status", {"numba", "numpy", "scipy", "matplotlib", "pydantic"}),
        ("score", {"numba", "scipy", "matplotlib"}),
        ("report", {"numba"}),
    ],
)
def test_a_verb_imports_only_what_it_needs(verb, heavy, tmp_path):
    config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=1, episodes=1)
    run(config, tmp_path / "run")
    code = (
        f"import sys; sys.argv = ['gohr', '{verb}', 'run']\n"
        "from gohr.cli import main\n"
        "try:\n    main()\n"
        f"except SystemExit:\n    print(sorted({heavy} & set(sys.modules)))\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert said.stdout.splitlines()[-1] == "[]"


@pytest.mark.full
def test_run_with_workers_and_score(tmp_path):
    (tmp_path / "long.toml").write_text(LONG.replace("2000", "6"))
    said = gohr("run", "long.toml", "--out", "run", "-j", "2", cwd=tmp_path)
    assert said.stdout == "run: 6 trials (6 done, 0 failed, 0 missing), not running\n"
    assert (said.returncode, said.stderr) == (0, "")
    said = gohr("score", "run", "--json", cwd=tmp_path)
    assert len(json.loads(said.stdout)["results"]) == 6


@pytest.mark.full
@pytest.mark.parametrize("workers", [["1"], ["2"]])
def test_ctrl_c_stops_cleanly_and_the_run_goes_on(tmp_path, workers):
    (tmp_path / "long.toml").write_text(LONG)
    command = [*GOHR, "run", "long.toml", "--out", "run", "-j", *workers]
    process = subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while n_recorded(tmp_path / "run") < 5:
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (
        err
        == "gohr: stopped; the attempts so far are in run, and the same command resumes the run\n"
    )
