"""The same bits from one thread and four, from processes and from a Dask cluster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.full  # six whole runs, two of them on processes

#: Plays an experiment as it is told, reads it by every verb, and prints what it found.
SCRIPT = """
import hashlib, json, sys
import gnomon as gn
import gohr
from gohr.experiments import Run, run, score, status

LEARNERS = ["uniform", {"kind": "linear_dqn", "learning_rate": 0.03}, "tabular_q"]
CONFIG = gohr.ExperimentConfig("bits", ["clockwise", "color-match", "b3-then-b1"], LEARNERS,
                             trials=4, episodes=20, seed=5)
METRICS = ("tce", "errors_to_learn", "errors_per_episode", "m_star", "skill")

def main(out, workers, scheduler):
    trials = run(CONFIG, out, workers=int(workers), scheduler=scheduler or None).trials()
    assert all(trial.error is None for trial in trials)
    table = score(out)
    a, b, _ = table.algorithms
    found = {
        "shards": [[t.key, t.attempts_hash] for t in trials],
        "rows": {name: hashlib.sha256(repr(column.tolist()).encode()).hexdigest()
                 for name, column in Run.open(out).attempts().items()},
        "status": status(out).as_records(),
        "score": {m: repr(score(out, m).to_records()) for m in METRICS},
        "estimate": repr(gn.estimate(table, ["mean", "median", "iqm"]).as_records()),
        "compare": repr(gn.compare(table, a, b).as_records()),
        "profile": repr(gn.profile(table).as_records()),
        "curves": repr(gn.curves(score(out, "cumulated_errors")).as_records()),
        "rank": repr(gn.rank(table).as_records()),
        "report": hashlib.sha256(
            gn.report(out, out + "-report/page.html").read_bytes()).hexdigest(),
    }
    print(json.dumps(found))

if __name__ == "__main__":
    main(*sys.argv[1:])
"""
THREADS = (
    "NUMBA_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
)
WAYS = {
    "one thread": (1, 1, ""),
    "four threads": (4, 1, ""),
    "two processes": (1, 2, ""),
    "Dask": (1, 2, "local"),
}


def told(tmp_path: Path, threads: int, workers: int, scheduler: str) -> dict[str, object]:
    """Play and read in a fresh interpreter with so many threads, always in a folder `run`."""
    (tmp_path / "run-report").mkdir()
    (tmp_path / "script.py").write_text(SCRIPT)
    env = os.environ | dict.fromkeys(THREADS, str(threads))
    command = [sys.executable, "script.py", "run", str(workers), scheduler]
    said = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    found: dict[str, object] = json.loads(said.stdout)
    return found


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> dict[str, object]:
    return told(tmp_path_factory.mktemp("alone"), *WAYS["one thread"])


@pytest.mark.parametrize("way", list(WAYS)[1:])
def test_the_same_bits(tmp_path, alone, way):
    if way == "Dask":
        pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
    found = told(tmp_path, *WAYS[way])
    assert found.keys() == alone.keys()
    assert [name for name in found if found[name] != alone[name]] == []
