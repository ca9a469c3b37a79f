"""Faults: single flipped bits in every file of a run, and kills at random moments.

After each fault the verbs that read must tell what they told before, or refuse in one line; `run`
must play what is lost to the same bytes, or refuse; and `repair` must make `run` able to. A *silent
error* is a number that differs from the truth without a word. There must be none, nor a traceback.
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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.record import Measurement
from gnomon.errors import GnomonError
from gnomon.experiments import ExperimentConfig, RunFolder, repair, run, score, status
from gnomon.experiments.folder.journal import read_journal

#: Where the bits and the moments are drawn from.
SEED = 20_261_123
#: Flips of a bit by the file that it is in, and of those after how many `run` goes on too.
FLIPS = {
    "journal.sqlite": 6000,
    "shards": 1000,
    "config.json": 500,
    "gnomon-run.json": 300,
    "card.json": 200,
}
RUN_AFTER = 30
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
        for name, n_flips in FLIPS.items():
            tally = flipped(Path(out) / "flips", name, n_flips)
            yield from _told(f"flips in {name}", n_flips, tally)
        for victim in ("runner", "worker"):
            tally = killed(Path(out) / "kills", victim, N_KILLS)
            yield from _told(f"kills of a {victim}", N_KILLS, tally)


def about() -> str:
    """Return the seed, and what is counted."""
    return (
        f"Seed {SEED}. A run of {CONFIG.n_trials} trials, read by `status`, `score` and the table "
        f"of trials after each flip; after each {RUN_AFTER}th `run` goes on with it, where it "
        "refuses after `repair`, and all shards are compared. Kills at random moments of a run of "
        f"{LONG.n_trials} trials on two processes, which is then gone on with."
    )


def _told(name: str, n: int, tally: Tally) -> Iterator[Measurement]:
    ends = ", ".join(f"{count} {end}" for end, count in sorted(tally.ends.items()))
    n_wrong = len(tally.wrong)
    note = f"{n} in all: {ends}" + (f"; {tally.wrong[0]}" if n_wrong else "")
    yield Measurement(
        f"{name}: silent errors and tracebacks", n_wrong, "", 0, higher_is_better=False, note=note
    )


def flipped(place: Path, name: str, n_flips: int, seed: int = SEED) -> Tally:
    """Flip single bits in a file of a run (of ``shards`` in any of them), each in a fresh copy."""
    draws = random.Random(f"{seed} {name}")
    shutil.rmtree(place, ignore_errors=True)
    whole, copy, tally = place / "whole", place / "run", Tally()
    run(CONFIG, whole)
    truth, shards = _read(whole), _contents(whole / "shards")
    shutil.copytree(whole, copy)
    for number in range(n_flips):
        files = sorted((whole / "shards").iterdir()) if name == "shards" else [whole / name]
        source = draws.choice(files)
        target = copy / source.relative_to(whole)
        byte, bit = draws.randrange(source.stat().st_size), draws.randrange(8)
        where = f"{source.name}, byte {byte}, bit {bit}"
        data = bytearray(source.read_bytes())
        data[byte] ^= 1 << bit
        target.write_bytes(data)
        _judge(tally, where, lambda: _read(copy), truth)
        if number % RUN_AFTER == 0:
            _judge_run(tally, where, copy, shards, truth)
            shutil.rmtree(copy)
            shutil.copytree(whole, copy)
        else:
            target.write_bytes(source.read_bytes())
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


def _judge_run(
    tally: Tally, where: str, folder: Path, shards: dict[str, bytes], truth: Any
) -> None:
    """Go on with a damaged run, repair it if it refuses, and see that all is as it was."""

    def go_on() -> Any:
        try:
            run(CONFIG, folder)
        except GnomonError as error:
            if "gnomon repair" not in str(error) and "begun by" not in str(error):
                return f"refused without a remedy: {error}"
            repair(folder)
            run(CONFIG, folder)
        repair(folder)  # what `run` can do without, such as a date
        if list(repair(folder)):
            return "not repaired at once"
        return _contents(folder / "shards") == shards and _read(folder) == truth

    _judge(tally, f"run after {where}", go_on, True)


def _read(folder: Path) -> tuple[Any, ...]:
    """Return what the verbs that read tell of a run, but for its name."""
    counts = tuple((p.learner, p.rule, p.done, p.failed, p.missing) for p in status(folder))
    # What took how long is lost with a row, and told as unknown.
    trials = [(t.key, t.learner, t.rule, t.trial, t.status, t.n_attempts, t.sha256)
              for t in RunFolder.open(folder).trials()]  # fmt: skip
    # The score is in the journal; whoever wants attempts reads the shards.
    opened = RunFolder.open(folder)
    attempts = [opened.frame(record).height for record in opened.trials()]
    return counts, trials, attempts, score(folder).to_records()


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


SCRIPT = """
import sys
from benchmarks.faults import LONG
from gnomon.experiments import run
if __name__ == "__main__":
    summary = run(LONG, sys.argv[1], workers=2, scheduler="processes")
    sys.exit(1 if summary.failed else 0)
"""


def killed(place: Path, victim: str, n_kills: int, seed: int = SEED) -> Tally:
    """Kill a run or one of its workers at random moments, go on with it, and compare shards."""
    draws = random.Random(f"{seed} {victim}")
    tally, undisturbed = Tally(), place / "undisturbed"
    run(LONG, undisturbed)
    shards = _contents(undisturbed / "shards")
    (place / "script.py").write_text(SCRIPT)
    for number in range(n_kills):
        folder, wanted = place / str(number), draws.randrange(LONG.n_trials * 3 // 4)
        _kill_once(place / "script.py", folder, victim, wanted)
        where = f"{victim} {number}"

        def go_on(folder: Path = folder) -> Any:
            _read(folder) if (folder / "gnomon-run.json").exists() else None
            summary = run(LONG, folder)
            if list(repair(folder)) or summary.failed:
                return "not whole"
            return _contents(folder / "shards") == shards

        _judge(tally, where, go_on, True)
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
        return len(read_journal(folder / "journal.sqlite").records)
    except GnomonError:
        return 0  # not there yet


def _workers_of(pid: int) -> list[int]:
    """Return the worker processes of a run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            spawned = b"spawn_main" in (path.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if parent == pid and spawned:
            found.append(int(path.parent.name))
    return found
