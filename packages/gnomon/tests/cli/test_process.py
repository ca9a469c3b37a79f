"""The command line as a process of its own: what a shell sees."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gnomon.errors import GnomonError
from gohr.experiments import ExperimentConfig, RunFolder, run

GNOMON = [sys.executable, "-W", "error", "-c", "from gnomon.cli import main; main()"]

LONG = """
name = "long"
rules = ["clockwise"]
learners = ["uniform"]
trials = 2000
"""


def gnomon(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*GNOMON, *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        env=os.environ | environment,
        timeout=300,
    )


def test_help_and_status_are_quick_and_import_nothing_heavy(tmp_path):
    config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=1, episodes=1)
    run(config, tmp_path / "run")
    heavy = {"numba", "numpy", "polars", "scipy", "matplotlib"}
    # Pydantic checks what a verb is given, and Rich lays out the table that it prints.
    for arguments, none_of in (
        (["--help"], heavy | {"pydantic", "rich"}),
        (["status", "run"], heavy),
    ):
        code = (
            f"import sys; sys.argv = ['gnomon', *{arguments}]\n"
            "from gnomon.cli import main\n"
            "try:\n    main()\n"
            f"except SystemExit:\n    print(sorted({none_of} & set(sys.modules)))\n"
        )
        began = time.perf_counter()
        said = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
        )
        seconds = time.perf_counter() - began
        assert said.stdout.splitlines()[-1] == "[]", arguments
        # The promise is 0.6 s; a busy machine is given some more.
        assert seconds < 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["estimate", "x.csv", "--metrik", "mean"], "No such option: --metrik (Possible options: "),
        (["distill", "x.csv", "--scor", "3"], "No such option: --scor (Possible options: "),
        (["estimat", "x.csv"], "No such command 'estimat'. Did you mean 'estimate'"),
    ],
)
def test_a_misspelt_word_is_told_before_anything_heavy_is_imported(tmp_path, arguments, message):
    code = (
        f"import sys, time; sys.argv = ['gnomon', *{arguments}]\n"
        "from gnomon.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit as end:\n"
        "    heavy = {'numpy', 'numba', 'polars', 'scipy', 'matplotlib', 'pydantic', 'rich'}\n"
        "    print(end.code, sorted(heavy & set(sys.modules)), time.process_time())\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert message in said.stderr
    assert said.stdout.startswith("2 [] ")
    # The promise is 0.3 s of processor time; a busy machine is given some more.
    assert float(said.stdout.split()[-1]) < 0.6


def test_piped_output_has_no_colours_and_errors_no_traceback(tmp_path):
    said = gnomon("rules", "list", cwd=tmp_path, TERM="xterm-256color", COLORTERM="truecolor")
    assert (said.returncode, said.stderr) == (0, "")
    assert "clockwise" in said.stdout
    assert "\x1b" not in said.stdout

    said = gnomon("run", "dmo", "--out", "x", cwd=tmp_path)
    assert said.returncode == 2
    assert said.stdout == ""
    assert said.stderr == "gnomon: unknown experiment or file 'dmo'; did you mean 'demo'?\n"
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_leaves_early_is_no_error(tmp_path):
    """``gnomon ... | head``."""
    command = f"set -o pipefail; {' '.join(map(repr, GNOMON))} rules list | head -1"
    said = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path)
    assert said.stderr == ""


@pytest.mark.full
def test_run_with_workers_and_score(tmp_path):
    (tmp_path / "long.toml").write_text(LONG.replace("2000", "6"))
    said = gnomon("run", "long.toml", "--out", "run", "-j", "2", cwd=tmp_path)
    assert said.stdout == "long: 6 trials (6 done, 0 skipped, 0 failed) in run\n"
    assert (said.returncode, said.stderr) == (0, "")
    said = gnomon("score", "run", "--json", cwd=tmp_path)
    assert len(json.loads(said.stdout)["results"]) == 6


def n_recorded(path):
    try:
        return len(RunFolder.open(path).trials())
    except GnomonError:  # not there yet
        return 0


@pytest.mark.full
@pytest.mark.parametrize("workers", [["1"], ["2"], ["2", "--scheduler", "processes"]])
def test_ctrl_c_stops_cleanly_and_the_run_goes_on(tmp_path, workers):
    (tmp_path / "long.toml").write_text(LONG)
    command = [*GNOMON, "run", "long.toml", "--out", "run", "-j", *workers]
    process = subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while n_recorded(tmp_path / "run") < 5:
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "gnomon: stopped; what was played is in run, and the same command goes on\n"
