"""Runs on a Dask cluster: the same bytes, and what a killed scheduler or client costs."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gohr.experiments import ExperimentConfig, Run, run
from runs import hashes, n_played, n_recorded

pytestmark = pytest.mark.full  # a Dask cluster

pytest.importorskip("distributed", reason="the extra 'dask' is not installed")

LONG = """
name = "long"
rules = ["clockwise"]
learners = ["uniform"]
trials = 300
episodes = 200
"""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> tuple[ExperimentConfig, dict[str, str | None]]:
    path = tmp_path_factory.mktemp("undisturbed")
    (path / "long.toml").write_text(LONG)
    config = ExperimentConfig.from_toml(path / "long.toml")
    run(config, path / "run")
    return config, hashes(path / "run")


@pytest.fixture
def cluster() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A scheduler and a worker, each a process of its own, as on a real cluster."""
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    scheduler = subprocess.Popen([*dask, *options], stderr=subprocess.PIPE, text=True)
    address = next(
        found[0]
        for line in scheduler.stderr or []
        if (found := re.search(r"tcp://127.0.0.1:\d+", line))
    )
    dask = [sys.executable, "-m", "distributed.cli.dask_worker", address]
    options = ["--no-dashboard", "--nthreads", "1", "--no-nanny"]
    with subprocess.Popen([*dask, *options], stderr=subprocess.DEVNULL) as worker:
        yield scheduler, address
        worker.kill()
    scheduler.kill()
    scheduler.communicate()


def start(folder: Path, *options: str) -> subprocess.Popen[str]:
    (folder / "long.toml").write_text(LONG)
    command = [sys.executable, "-m", "gohr", "run", "long.toml", "--out", "run", *options]
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while n_recorded(folder / "run") < 20:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    return process


def test_kill_9_of_the_scheduler(tmp_path, cluster, undisturbed):
    scheduler, address = cluster
    process = start(tmp_path, "--scheduler", address)
    scheduler.send_signal(signal.SIGKILL)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1, err
    assert "Traceback" not in err
    config, expected = undisturbed
    trials = Run.open(tmp_path / "run").trials()
    done = sum(t.status == "done" for t in trials)
    assert 20 <= done < 300
    assert len(trials) == 300
    assert n_played(config, tmp_path / "run") == 300 - done
    assert hashes(tmp_path / "run") == expected
