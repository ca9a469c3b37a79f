"""Faults: single flipped bits in the database of a run, and kills at random moments.

After each fault the verbs that read must answer as before, or refuse in one line, and `run` must
play what is lost to the same bytes. A *silent error* is a number that differs from the truth
without a message. There must be none, nor a traceback.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.record import Measurement
from gnomon.errors import GnomonError
from gohr.experiments import ExperimentConfig, Run, run, score, status
from gohr.experiments.progress import is_run_folder
from gohr.experiments.store import RUN_FILE

#: Where the bits and the moments are drawn from.
SEED = 20_261_123
N_FLIPS = 2000
N_KILLS = 8
CONFIG = ExperimentConfig(
    "faults", ["clockwise", "color-match"], ["uniform", "rule_player"], trials=4, episodes=5
)
LONG = ExperimentConfig("kills", ["clockwise"], ["uniform"], trials=600, episodes=100)


@dataclass
class Tally:
    """What became of faults of one kind, and how those that must not be came about."""

    ends: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def say(self, end: str, where: str = "") -> None:
        """Count an end; one that must not be, with where it was."""
        self.ends[end] += 1
        if end in ("silent error", "traceback"):
            self.wrong.append(f"{end}: {where}")


def measure() -> Iterator[Measurement]:
    """Yield, of every kind of fault, how many there were and how many ended as none may."""
    with tempfile.TemporaryDirectory() as out:
        yield from _told("flipped bits", N_FLIPS, flipped(Path(out) / "flips", N_FLIPS))
        for victim in ("runner", "worker"):
            tally = killed(Path(out) / "kills", victim, N_KILLS)
            yield from _told(f"kills of a {victim}", N_KILLS, tally)


def about() -> str:
    """Return the seed, and what is counted."""
    return (
        f"Seed {SEED}. A run of {CONFIG.n_trials} trials, read by `status`, the table of trials "
        "and `score`, with and without attempts, after each flip; then `run` continues it, and all "
        f"attempts are compared. Kills at random moments of a run of {LONG.n_trials} trials on two "
        "processes, which is then continued."
    )


def _told(name: str, n: int, tally: Tally) -> Iterator[Measurement]:
    ends = ", ".join(f"{count} {end}" for end, count in sorted(tally.ends.items()))
    n_wrong = len(tally.wrong)
    note = f"{n} in all: {ends}" + (f"; {tally.wrong[0]}" if n_wrong else "")
    yield Measurement(
        f"{name}: silent errors and tracebacks", n_wrong, "", 0, higher_is_better=False, note=note
    )


def flipped(place: Path, n_flips: int, seed: int = SEED) -> Tally:
    """Flip single bits in the database of a run, each in a fresh copy."""
    draws, tally = random.Random(seed), Tally()
    shutil.rmtree(place, ignore_errors=True)
    whole = run(CONFIG, place / "whole")
    truth, data, copy = _read(whole.path), whole.store.path.read_bytes(), place / "run"
    copy.mkdir()
    for _ in range(n_flips):
        byte, bit = draws.randrange(len(data)), draws.randrange(8)
        damaged = bytearray(data)
        damaged[byte] ^= 1 << bit
        (copy / RUN_FILE).write_bytes(damaged)
        where = f"byte {byte}, bit {bit}"
        _judge(tally, where, lambda: _read(copy), truth)
        _judge(tally, f"run after {where}", lambda: (run(CONFIG, copy), _read(copy))[1], truth)
    return tally


def _judge(tally: Tally, where: str, read: Callable[[], Any], truth: Any) -> None:
    """Read what was damaged, and say what came of it."""
    try:
        found = read()
    except (GnomonError, OSError) as error:
        plain = str(error).strip()
        tally.say("refused" if "\n" not in plain and plain else "traceback", f"{where}: {plain!r}")
    except Exception as error:
        tally.say("traceback", f"{where}: {type(error).__name__}: {error}")
    else:
        tally.say("as before" if found == truth else "silent error", where)


def _read(folder: Path) -> tuple[Any, ...]:
    """Return what the verbs that read tell of a run, but for its name."""
    counts = tuple((p.learner, p.rule, p.done, p.failed, p.missing) for p in status(folder))
    # What took how long is lost with a row, and told as unknown.
    trials = [(t.key, t.learner, t.rule, t.trial, t.status, t.n_attempts, t.attempts_hash)
              for t in Run.open(folder).trials()]  # fmt: skip
    return counts, trials, score(folder).to_records(), score(folder, "m_star").to_records()


SCRIPT = """
import sys
from benchmarks.faults import LONG
from gohr.experiments import run
if __name__ == "__main__":
    played = run(LONG, sys.argv[1], workers=2)
    sys.exit(1 if any(trial.error for trial in played.trials()) else 0)
"""


def killed(place: Path, victim: str, n_kills: int, seed: int = SEED) -> Tally:
    """Kill a run or one of its workers at random moments, continue it, and compare all attempts."""
    draws = random.Random(f"{seed} {victim}")
    tally, undisturbed = Tally(), place / "undisturbed"
    run(LONG, undisturbed)
    truth = _read(undisturbed)
    (place / "script.py").write_text(SCRIPT)
    for number in range(n_kills):
        folder, wanted = place / str(number), draws.randrange(LONG.n_trials * 3 // 4)
        _kill_once(place / "script.py", folder, victim, wanted)
        where = f"{victim} {number}"

        def go_on(folder: Path = folder) -> Any:
            if is_run_folder(folder):
                status(folder)
            run(LONG, folder)
            return _read(folder)

        _judge(tally, where, go_on, truth)
        shutil.rmtree(folder)
    return tally


def _kill_once(script: Path, folder: Path, victim: str, wanted: int) -> None:
    """Start a run, and kill it or a worker once so many trials are recorded."""
    path = os.pathsep.join([str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, str(script), str(folder)],
        env=os.environ | {"PYTHONPATH": path},
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None and _n_recorded(folder) < wanted:
        time.sleep(0.02)
    if victim == "runner":
        process.kill()
    else:
        for pid in _workers_of(process.pid)[:1]:
            os.kill(pid, signal.SIGKILL)
    process.wait()


def _n_recorded(folder: Path) -> int:
    try:
        return len(Run.open(folder).trials())
    except GnomonError:
        return 0  # not there yet


def _workers_of(pid: int) -> list[int]:
    """Return the worker processes of a run: the children of its fork server."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            if b"forkserver" in (path.parent / "cmdline").read_bytes():
                parents[int(path.parent.name)] = parent
    return [child for child, parent in parents.items() if parents.get(parent) == pid]
