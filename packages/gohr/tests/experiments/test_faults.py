"""What goes wrong with some trials costs no other: real processes, a real full disk."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gohr.errors import RunFolderError
from gohr.experiments import ExperimentConfig, Run, run, status
from runs import hashes, n_played

pytestmark = pytest.mark.full  # processes are killed, disks are full

GNOMON = [sys.executable, "-m", "gohr"]
RULES = ["clockwise", "color-match"]
CONFIG = """
name = "faulty"
rules = ["clockwise", "color-match"]
learners = ["uniform"]
trials = 8
episodes = 10
trial_timeout_s = 10
"""
#: Four trials on one rule misbehave, each in its own way, unless all is well.
SITE = """
import os, time
from gohr.experiments import Trial
play = Trial.play
def misbehave(self):
    if self.rule.name == "clockwise":
        match self.number:
            case 2: raise RuntimeError("out of luck")
            case 3: time.sleep(600)
            case 4: os.kill(os.getpid(), 9)
            case 6: os._exit(0)
    return play(self)
Trial.play = misbehave
"""
ERRORS = {
    2: "RuntimeError: out of luck",
    3: "TimeLimit: not done after 10 s",
    4: "the worker process died (signal 9)",
    6: "the worker process died (exit status 0)",
}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> dict[str, str | None]:
    path = tmp_path_factory.mktemp("undisturbed")
    run(ExperimentConfig("faulty", RULES, ["uniform"], trials=8, episodes=10), path)
    return hashes(path)


def test_bad_trials_are_recorded_and_the_rest_are_complete(tmp_path, undisturbed):
    (tmp_path / "faulty.toml").write_text(CONFIG)
    # Every interpreter that starts, the workers included, imports this.
    (tmp_path / "sitecustomize.py").write_text(SITE)
    env = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    command = [
        *GNOMON,
        "run",
        "faulty.toml",
        "--out",
        "run",
        "--workers",
        "2",
        "--json",
    ]
    said = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert said.returncode == 1, said.stderr
    answer = json.loads(said.stdout)
    assert len(answer["warnings"]) == 4
    counts = [(r["done"], r["failed"], r["missing"]) for r in answer["results"]]
    assert counts == [(4, 4, 0), (8, 0, 0)]
    trials = Run.open(tmp_path / "run").trials()
    assert len({t.key for t in trials}) == len(trials) == 16
    failed = {t.trial: t.error for t in trials if t.status == "failed"}
    assert failed.keys() == ERRORS.keys()
    assert [n for n, error in failed.items() if ERRORS[n] not in error] == [], failed
    there = hashes(tmp_path / "run")
    assert len(there) == 12
    assert there.items() <= undisturbed.items()

    # Where all is well they are played, and they alone; the limit may be another by then.
    config = ExperimentConfig("faulty", RULES, ["uniform"], trials=8, episodes=10)
    assert n_played(config, tmp_path / "run") == 4
    assert hashes(tmp_path / "run") == undisturbed


def started(tmp_path: Path, site: str, *options: str) -> subprocess.Popen[bytes]:
    """Start a run of the experiment without limits, where every interpreter imports a module."""
    (tmp_path / "faulty.toml").write_text(CONFIG.partition("trial_timeout_s")[0])
    (tmp_path / "sitecustomize.py").write_text(site)
    env = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    command = [*GNOMON, "run", "faulty.toml", "--out", "run", *options]
    return subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL)


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 60
    while not condition():
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.01)


#: A process stops itself at a trial, as by SIGSTOP from outside, until it is told to go on.
STOPPED = """
import os, pathlib, signal
from gohr.experiments import Trial
play = Trial.play
def stop(self):
    if self.rule.name == "clockwise" and self.number == 3:
        pathlib.Path("pid.new").write_text(str(os.getpid()))
        os.rename("pid.new", "pid")
        os.kill(os.getpid(), signal.SIGSTOP)
    return play(self)
Trial.play = stop
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_a_process_that_is_stopped_and_goes_on_loses_nothing(tmp_path, undisturbed, workers):
    """With one worker the writer itself is stopped, with two one of the workers."""
    process = started(tmp_path, STOPPED, "--workers", str(workers))
    out = tmp_path / "run"
    try:
        wait_until((tmp_path / "pid").exists, process)
        if workers == 2:  # the other one plays all the rest
            wait_until(lambda: len(hashes(out)) == 15, process)
        stopped = hashes(out)
        assert stopped.items() <= undisturbed.items()
        assert status(out).notes[0].endswith("missing), running")
        with pytest.raises(RunFolderError, match="another run is writing here"):
            run(Run.open(out).config, out)
        assert hashes(out) == stopped
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGCONT)
        assert process.wait(60) == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.send_signal(signal.SIGCONT)
            process.wait()
    assert hashes(out) == undisturbed


#: The clock jumps a day ahead and back again whenever it is read.
JUMPING = """
import itertools, time
now, jumps = time.time, itertools.cycle([0, 86_400, -86_400])
time.time = lambda: now() + next(jumps)
"""


def test_a_clock_that_jumps_changes_nothing(tmp_path, undisturbed):
    assert started(tmp_path, JUMPING, "--workers", "2").wait(60) == 0
    assert hashes(tmp_path / "run") == undisturbed
    assert all(0 < t.wall_time_s < 60 for t in Run.open(tmp_path / "run").trials())


@pytest.mark.parametrize("workers", [1, 2])
def test_a_full_disk(small_disk, tmp_path, workers):
    """One line tells of it, and all that was recorded is kept."""
    config = ExperimentConfig("many", ["clockwise"], ["uniform"], trials=400, episodes=200)
    told = r"^\S+run.sqlite: .*disk is full.*continues$"
    with pytest.raises(RunFolderError, match=told) as error:
        run(config, small_disk / "run", workers=workers)
    assert "\n" not in str(error.value)
    # Once there is room, only what is missing is played.
    shutil.copytree(small_disk / "run", tmp_path / "run")
    recorded = len(hashes(tmp_path / "run"))
    assert recorded > 10
    assert n_played(config, tmp_path / "run") == 400 - recorded
    run(config, tmp_path / "undisturbed")
    assert hashes(tmp_path / "run") == hashes(tmp_path / "undisturbed")


def test_a_disk_without_room_for_a_beginning(small_disk):
    config = ExperimentConfig("many", ["clockwise"], ["uniform"], trials=1, episodes=2)
    begun = run(config, small_disk / "whole").path
    least = sum(p.stat().st_size for p in begun.iterdir() if p.is_file())
    shutil.rmtree(begun)
    # Whatever there is room for, nothing is left half written.
    for room in range(0, least, 4096):
        free = shutil.disk_usage(small_disk).free
        (small_disk / "fill").write_bytes(bytes(free - room))
        with pytest.raises(
            (OSError, RunFolderError), match=r"No space|full|malformed|I/O"
        ) as error:
            Run.create(small_disk / "run", config)
        assert "run" in str(error.value)
        assert [p.name for p in small_disk.iterdir()] == ["fill"]
        (small_disk / "fill").unlink()
