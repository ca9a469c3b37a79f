"""The runner: the same bytes however it is run, and a run goes on where it stopped."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from concurrent import futures

import pytest

from gnomon.errors import GnomonError
from gohr.errors import ConfigError, RuleError, StuckRuleWarning
from gohr.experiments import ExperimentConfig, Run, Trial, elements, run, score, status, tag_effects
from gohr.run_page import findings_of
from runs import hashes, n_played, n_recorded

LEARNERS = ["uniform", {"kind": "linear_dqn", "learning_rate": 0.03}]
CONFIG = ExperimentConfig("small", ["clockwise", "b3-then-b1"], LEARNERS, trials=3, episodes=10)


@pytest.fixture(scope="module")
def serial(tmp_path_factory) -> dict[str, str | None]:
    path = tmp_path_factory.mktemp("serial")
    run(CONFIG, path)
    return hashes(path)


def test_dask_plays_only_where_it_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    config = ExperimentConfig("x", ["clockwise"], ["uniform"], trials=2, episodes=1)
    for workers in (1, 2):
        run(config, tmp_path / str(workers), workers=workers)
    with pytest.raises(GnomonError, match="a cluster needs Dask"):
        run(config, tmp_path / "cluster", scheduler="local")


def test_any_executor_of_futures_plays(tmp_path, serial):
    with futures.ThreadPoolExecutor(2) as threads:
        assert n_played(CONFIG, tmp_path, workers=2, executor=threads) == 12
    assert hashes(tmp_path) == serial


def test_a_limit_needs_processes(tmp_path):
    config = ExperimentConfig("x", ["clockwise"], ["uniform"], trials=1, trial_timeout_s=1)
    with pytest.raises(ConfigError, match="trial_timeout_s needs worker processes"):
        run(config, tmp_path / "run", scheduler="local")
    assert not (tmp_path / "run").exists()


def test_what_is_there_is_skipped(tmp_path, serial):
    seen: list[tuple[int, int]] = []
    run(CONFIG, tmp_path, progress=lambda n, of: seen.append((n, of)))
    assert seen == [(n, 12) for n in range(13)]
    assert n_played(CONFIG, tmp_path) == 0
    assert hashes(tmp_path) == serial


def test_a_rule_that_cannot_be_played_is_refused_before_the_first_trial(tmp_path):
    rule = tmp_path / "fails-in-play.txt"
    rule.write_text("(*,*,*,*,0)\n(*,*,*,*,this.color+1)\n")
    message = "line 2, column 10: error: 'this.color' is a name, and arithmetic on it stops the"
    with pytest.raises(RuleError, match=message):
        ExperimentConfig("slow", [str(rule)], ["rule_player"], trials=1, episodes=2)


def test_an_interrupted_run_goes_on(tmp_path, serial):
    def stop(n_played: int, n_to_play: int) -> None:
        if n_played == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(CONFIG, tmp_path, progress=stop)
    assert len(Run.open(tmp_path).trials()) == 5
    assert n_played(CONFIG, tmp_path) == 7
    assert hashes(tmp_path) == serial


def test_a_trial_that_raises_is_recorded_and_tried_again(tmp_path, serial, monkeypatch):
    play = Trial.play

    def fail_once(trial: Trial) -> object:
        if trial.number == 1 and trial.learner.kind == "uniform":
            raise RuntimeError("out of luck\nand of patience")
        return play(trial)

    monkeypatch.setattr(Trial, "play", fail_once)
    failed = [t for t in run(CONFIG, tmp_path).trials() if t.status == "failed"]
    assert [(t.rule, t.trial, t.error) for t in failed] == [
        ("clockwise", 1, "RuntimeError: out of luck"),
        ("b3-then-b1", 1, "RuntimeError: out of luck"),
    ]
    assert "in fail_once" in failed[0].traceback
    assert failed[0].attempts_hash is None

    monkeypatch.undo()
    assert n_played(CONFIG, tmp_path) == 2
    assert hashes(tmp_path) == serial


def test_other_learners_change_nothing(tmp_path, serial):
    """A learner's trials are its own: they do not depend on who else is in the experiment."""
    alone = ExperimentConfig("alone", ["clockwise"], [LEARNERS[1]], trials=3, episodes=10)
    run(alone, tmp_path)
    assert hashes(tmp_path).items() <= serial.items()


def test_nothing_is_written_for_a_wrong_number_of_workers(tmp_path):
    with pytest.raises(ValueError, match="workers: expected at least 1"):
        run(CONFIG, tmp_path / "run", workers=0)
    assert not (tmp_path / "run").exists()


#: Plays slowly once enough is recorded: it is killed in the middle however busy the machine is.
SCRIPT = """
import sys
import time
from gohr.experiments import ExperimentConfig, run
from test_runner_config import KILLED
def dawdle(n_played, n_to_play):
    time.sleep(0.03 if n_played > 32 else 0)
if __name__ == "__main__":
    run(KILLED, sys.argv[1], workers=int(sys.argv[2]), progress=dawdle)
"""
LONG = """
from gohr.experiments import ExperimentConfig
KILLED = ExperimentConfig("long", ["clockwise"], ["uniform"], trials=300, episodes=200)
"""


@pytest.mark.full
@pytest.mark.parametrize("workers", [1, 2])
def test_kill_9_loses_the_trials_in_flight_at_most(tmp_path, workers):
    """A real process is killed in the middle; what it had recorded is kept, byte for byte."""
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "test_runner_config.py").write_text(LONG)
    out = tmp_path / "run"
    process = subprocess.Popen(
        [sys.executable, str(tmp_path / "script.py"), str(out), str(workers)]
    )
    while n_recorded(out) < 20:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    recorded = n_recorded(out)
    assert 20 <= recorded < 300
    counts = f"300 trials ({recorded} done, 0 failed, {300 - recorded} missing), not running"
    assert status(out).notes == (f"{out}: {counts}",)

    config = ExperimentConfig("long", ["clockwise"], ["uniform"], trials=300, episodes=200)
    assert n_played(config, out) == 300 - recorded
    undisturbed = tmp_path / "undisturbed"
    run(config, undisturbed)
    assert hashes(out) == hashes(undisturbed)


def test_a_rule_that_is_stuck_as_dealt_is_warned_of_by_name(tmp_path):
    rules = ["clockwise", {"name": "typo", "text": "(*,sqare,*,*,1)"}]
    config = ExperimentConfig("x", rules, ["uniform"], trials=1, episodes=5)
    said = "rule typo: no piece can be moved on 5 of 5 boards tested"
    with pytest.warns(StuckRuleWarning, match=said) as told:
        folder = run(config, tmp_path)
    assert len(told) == 1
    for verb in (score, lambda folder: elements(folder, "clockwise"), tag_effects):
        with pytest.warns(StuckRuleWarning, match=said) as told:
            verb(folder)
        assert [x.filename for x in told] == [__file__]
    (caveat,) = findings_of(folder).caveats()
    assert caveat.startswith("Rule typo: no piece can be moved on 5 of 5 boards tested")
