"""What the program does today, as one JSON object for each section.

``PYTHONPATH=tests python -m frozen.record [SECTION...]`` writes what is expected anew; a section
that is not meant to change must come out without a difference.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

from frozen.cases import CAPTIVE, LEARNERS, SECTIONS, write_inputs
from gnomon import __version__
from gohr.experiments import Run
from gohr.experiments.attempts import attempt_columns
from gohr.learners import chance_of_success

EXPECTED = Path(__file__).with_name("expected")
_SECRET = {"token", "invitation", "salt", "commitment", "computed", "prefix", "database_sha256"}
_MEASURED = re.compile(r"(^|_)(seconds|s|bytes|time|created|expires|begun|ended)$")


def record(section: str) -> dict[str, Any]:
    """Play a section in an empty folder, and return what came of each of its cases."""
    # What is printed for people is as wide as the terminal.
    width = mock.patch.dict(os.environ, {"COLUMNS": "120"})
    with width, tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        folder = Path(name).resolve()
        write_inputs(folder)
        return normalised(_RECORDS[section](section), str(folder))


def normalised(found: Any, folder: str, key: str = "") -> Any:
    """Return what was found without what differs between two times, places or machines.

    Under a key of ``_SECRET`` (what is drawn at random for nobody to guess) or ``_MEASURED`` (a
    time, a size or a speed), what is not null becomes ``"..."``. In strings the folder becomes
    FOLDER, the version VERSION, dates with their time DATE, a random secret SECRET. Numbers keep
    13 digits.
    """
    if isinstance(found, dict):
        return {k: normalised(v, folder, k) for k, v in found.items()}
    if isinstance(found, list):
        return [normalised(v, folder, key) for v in found]
    if found is not None and (key in _SECRET or _MEASURED.search(key)):
        return "..."
    if isinstance(found, float):
        return float(f"{found:.13g}")
    if isinstance(found, str):
        return _plain(found, folder)
    return found


def _plain(text: str, folder: str) -> str:
    text = text.replace(folder, "FOLDER").replace(__version__, "VERSION")
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?", "DATE", text)
    text = re.sub(r"gnomon_[0-9a-zA-Z_-]{20,}", "SECRET", text)
    return re.sub(r"/join/[0-9a-zA-Z_-]+", "/join/SECRET", text)


def call(command: str) -> dict[str, Any]:
    """Call the command line in this process; return its exit status, and both its outputs."""
    name, *words = shlex.split(command)
    out, err, argv = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = [name, *words]
    status: Any = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            import_module(f"{name.replace('-', '_')}.cli").main()
    except SystemExit as stop:
        status = stop.code or 0
    finally:
        sys.argv = argv
    return {"status": status, "out": out.getvalue(), "err": err.getvalue()}


def _answers(section: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for command in _commands(section):
        said = call(f"{command} --json")
        out = said.pop("out")
        said.pop("err")
        _put(found, command, said | ({"answer": json.loads(out)} if out else {}))
    return found


def _texts(section: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for command in _commands(section):
        said = call(command)
        _put(found, command, {k: v.splitlines() if k != "status" else v for k, v in said.items()})
    return found


def _commands(section: str) -> list[str]:
    return SECTIONS[section].strip().splitlines()


def _put(found: dict[str, Any], command: str, said: dict[str, Any]) -> None:
    """Keep what was said, under another name if the command is called again."""
    again = sum(name.split(" #")[0] == command for name in found)
    found[f"{command} #{again + 1}" if again else command] = said


def _runs(section: str) -> dict[str, Any]:
    found = _answers(section)
    found["files"] = sorted(
        str(p) for folder in ("run/report", "family") for p in Path(folder).rglob("*")
    )
    tables = [*Path("run/report").rglob("*.csv"), Path("tce.csv")]
    found["tables"] = {str(p): _numbers(p.read_text()) for p in sorted(tables)}
    return found


def _numbers(text: str) -> list[list[Any]]:
    """Return the cells of a CSV text, as numbers where they are."""
    return [[_number(cell) for cell in line.split(",")] for line in text.splitlines()]


def _number(cell: str) -> Any:
    try:
        value = float(cell)
    except ValueError:
        return cell
    return value if abs(value) < float("inf") else cell


def _board(section: str) -> dict[str, Any]:
    # What may move: this is all that the test knows of the server's modules.
    from gnomon_board import Settings
    from gnomon_board.web.server import prepare

    database, _ = prepare(Settings(Path("board").resolve()))
    database.close()
    found = _answers(section)
    found["files"] = sorted(str(p) for f in ("exported",) for p in Path(f).rglob("*"))
    return found


def _openapi(_: str) -> dict[str, Any]:
    # As above.
    from gnomon_board import Settings, create_app

    schema = create_app(Settings(Path("served").resolve())).openapi()
    return json.loads(json.dumps(schema, sort_keys=True))


def _captive(_: str) -> dict[str, Any]:
    found = {}
    for name, (words, lines) in CAPTIVE.items():
        done = subprocess.run(
            [sys.executable, "-m", "gohr", "captive", *words.split()],
            input=lines.replace("|", "\n") + "\n",
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        out, err = done.stdout.splitlines(), done.stderr.splitlines()
        found[name] = {"status": done.returncode, "out": out, "err": err}
    found["log.csv"] = Path("log.csv").read_text().splitlines()
    return found


def _learners(_: str) -> dict[str, Any]:
    """Play each learner; return the hashes of its attempts by trial."""
    Path("learners.toml").write_text(LEARNERS.replace("{python}", sys.executable))
    said = call("gohr run learners.toml --out run --json")
    found: dict[str, Any] = {"run": json.loads(said["out"])["results"]}
    log = json.loads(call("gohr score run --json")["out"])["results"]
    found["scores"] = log
    return found | {"attempts": _hashes(Path("run"))}


def _hashes(run: Path) -> dict[str, str]:
    """Return a hash of the rows of each trial, as a Polars data frame of the first edition."""
    attempts, folder = {}, Run.open(run)
    rules = {rule.name: rule.rule_set for rule in folder.config.rules}
    for trial in folder.trials():
        log = folder.log(trial)
        key = trial.learner, trial.rule, trial.trial
        p0 = chance_of_success(rules[trial.rule], log, board_spec=folder.config.board)
        columns = list(attempt_columns({key: log}, {key: p0}).items())[3:]
        types = ", ".join(f"('{name}', {_TYPES[name]})" for name, _ in columns)
        rows = list(zip(*(column.tolist() for _, column in columns), strict=True))
        assert log.n_attempts.all(), "an episode without attempts had empty fields"
        text = f"([{types}], {rows!r})"
        name = f"{trial.learner} on {trial.rule}, {trial.trial}"
        attempts[name] = hashlib.sha256(text.encode()).hexdigest()
    return dict(sorted(attempts.items()))


_TYPES = {
    "episode": "Int32",
    "attempt": "Int32",
    "cell": "UInt8",
    "bucket": "UInt8",
    "outcome": "Int8",
    "finish": "Int8",
    "board": "Binary",
    "p0": "Float64",
}


def read_expected(section: str) -> dict[str, Any]:
    """Return what is expected of a section."""
    with gzip.open(EXPECTED / f"{section}.json.gz", "rt", encoding="utf-8") as file:
        return json.load(file)


def write_expected(section: str, found: dict[str, Any]) -> None:
    """Write what is expected of a section; the same bytes for the same content."""
    EXPECTED.mkdir(exist_ok=True)
    text = json.dumps(found, separators=(",", ":"))
    data = gzip.compress(text.encode(), mtime=0)
    (EXPECTED / f"{section}.json.gz").write_bytes(data)


_RECORDS: dict[str, Callable[[str], dict[str, Any]]] = {
    "scores": _answers,
    "runs": _runs,
    "distilled": _answers,
    "board": _board,
    "text": _texts,
    "captive": _captive,
    "learners": _learners,
    "openapi": _openapi,
}


if __name__ == "__main__":
    for section in sys.argv[1:] or _RECORDS:
        began = time.perf_counter()
        write_expected(section, record(section))
        print(f"{section}: {time.perf_counter() - began:.1f} s")
