"""The client of a leaderboard, and the submission of a run folder."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from gnomon import __version__
from gnomon.errors import GnomonError
from gnomon.files import parse_toml
from gnomon_board.errors import LeaderboardError, RefusedError
from gnomon_board.http_client import HttpClient
from gnomon_board.remote_game import AttemptPlay, Move, Replies, Reply
from gnomon_board.verification import trial_scores, verified_trials
from gohr import ExperimentConfig, RunFolder
from gohr.experiments import write_log

_ENDS = ("verified", "refused", "error", "withdrawn")


class Client(HttpClient):
    """A leaderboard at an address, as a participant sees it.

    Its methods need the server to run; its creation does not contact the server. Parameters and
    errors are those of :class:`gnomon_board.http_client.HttpClient`; ``token`` is an API token with
    the scope ``submit``. Use one client in each thread.
    """

    def entry(
        self, season: str, name: str, *, description: str = "", link: str = ""
    ) -> dict[str, Any]:
        """Return the entry of a name in a season; register it if there is none."""
        path = f"/api/seasons/{quote(season, safe='')}/entries"
        after = 0
        while page := self.get(f"{path}?limit=500&after={after}"):
            for entry in page:
                if entry["name"] == name:
                    found: dict[str, Any] = entry
                    return found
            after = page[-1]["id"]
        value = {"name": name, "description": description, "link": link}
        made: dict[str, Any] = self.ask("POST", path, value)
        return made

    def next_attempt(self, entry: int) -> dict[str, Any]:
        """Request another attempt, on other boards; it is counted."""
        made: dict[str, Any] = self.ask("POST", f"/api/entries/{entry}/attempts")
        return made

    def assignment(self, entry: int, attempt: int) -> ExperimentConfig:
        """Return the assigned rules, boards and seed, and ignore the rest of the answer.

        Raises GnomonError: it is not an assignment.
        """
        text = self.text(f"/api/entries/{entry}/attempts/{attempt}/config")
        try:
            return ExperimentConfig.from_record(parse_toml(text), trusted=False)
        except (GnomonError, ValueError) as error:
            raise LeaderboardError(f"{self.url}: expected an assignment: {error}") from None

    def begin(self, entry: int, attempt: int) -> AttemptPlay:
        """Begin an attempt of a hidden season, or continue it."""
        path = f"/api/remote/entries/{entry}/attempts/{attempt}"
        return AttemptPlay.model_validate(self.ask("POST", path))

    def move(self, moves: Sequence[Move]) -> list[Reply]:
        """Make moves in different trials, and return a reply to each."""
        value = {"moves": [move.model_dump() for move in moves]}
        return Replies.model_validate(self.ask("POST", "/api/remote/moves", value)).replies


# -- submission of a run ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Packed:
    """A run packed for submission."""

    manifest: dict[str, Any]
    log: bytes


def pack_run(folder: str | Path, learner: str | None = None) -> Packed:
    r"""Return the manifest and the log of one learner of a run folder.

    Parameters
    ----------
    folder : path
    learner : str, optional
        Name of the learner; required if the run has several.

    Raises
    ------
    RunFolderError, UnknownNameError
        It is not a run folder, or has no such learner.
    LeaderboardError
        The run has several learners, or trials are missing.

    Examples
    --------
    >>> import tempfile
    >>> from gohr.experiments import ExperimentConfig, run
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=1, episodes=3)
    >>> with tempfile.TemporaryDirectory() as out:
    ...     packed = pack_run(run(config, out).folder.path)
    >>> packed.manifest["learner"], len(packed.manifest["totals"]), packed.log[:4]
    ('uniform', 1, b'PK\x03\x04')
    """
    run = RunFolder.open(folder)
    names = [each.name for each in run.config.learners]
    if learner is None and len(names) > 1:
        raise LeaderboardError(
            f"{folder}: has the learners {', '.join(names)}; choose one of them (--learner)"
        )
    learner = learner or names[0]
    trials = [t for t in run.trials() if t.learner == learner and t.status == "done"]
    wanted = len(run.config.rules) * run.config.trials
    if len(trials) != wanted:
        raise LeaderboardError(
            f"{folder}: expected {wanted} trials of {learner}, found {len(trials)}; "
            "a leaderboard takes whole runs"
        )
    logs = {(trial.rule, trial.trial): played for trial, played in run.each(trials)}
    log = write_log(logs)
    record = run.config.to_record()
    record["learners"] = [each for each in record["learners"] if each["name"] == learner]
    totals = []
    for (rule, number), played in logs.items():
        scores = trial_scores(played)
        claimed = {name: scores[name] for name in ("n_attempts", "tce", "errors_to_learn")}
        totals.append({"rule": rule, "trial": number, **claimed})
    manifest = {
        "format": 1,
        "gnomon": __version__,
        "learner": learner,
        "config": record,
        "card": {"sessions": run.sessions},
        "totals": totals,
        "log_format": "zip",
        "log_sha256": hashlib.sha256(log).hexdigest(),
        "log_bytes": len(log),
    }
    return Packed(manifest, log)


def entry_of(packed: Packed) -> tuple[int, int]:
    """Return entry and attempt, from the experiment's name, which the server assigned.

    Raises LeaderboardError: the experiment has another name.
    """
    name = str(packed.manifest["config"].get("name", ""))
    match = re.fullmatch(r".+-entry-(\d{1,9})-attempt-(\d{1,9})", name)
    if match is None:
        raise LeaderboardError(
            f"the experiment is called {name!r}, not as a server names what it assigns; "
            "give --entry and --attempt"
        )
    return int(match[1]), int(match[2])


def refusal_of(client: Client, packed: Packed, entry: int, attempt: int) -> str | None:
    """Return why the server would refuse a run, by the worker's checks; None if it would not.

    A refused log uses up an attempt. In a hidden season there is nothing to verify here.
    """
    try:
        assigned = client.assignment(entry, attempt)
    except RefusedError as refused:
        if refused.status == 403:
            return None
        raise
    manifest = packed.manifest
    try:
        verified_trials(packed.log, manifest, assigned.to_record())
    except GnomonError as refusal:
        return str(refusal)
    return None


def submit(client: Client, packed: Packed, entry: int, attempt: int) -> dict[str, Any]:
    """Announce a run, send its log, and return the record of the submission.

    If the answer is lost, call it again: the same run is the same submission. It needs a running
    leaderboard and a token.
    """
    path = f"/api/entries/{entry}/attempts/{attempt}/submission"
    record: dict[str, Any] = client.ask("PUT", path, packed.manifest)
    if record["state"] == "uploading":
        record = client.ask("PUT", f"/api/submissions/{record['id']}/log", data=packed.log)
    return record


def wait_for_verdict(
    client: Client,
    record: dict[str, Any],
    *,
    most_s: float,
    tell: Callable[[dict[str, Any]], None] = lambda record: None,
) -> dict[str, Any]:
    """Poll a submission until there is a verdict, or the time is over.

    It needs a running leaderboard, and the record that :func:`submit` returned.
    """
    end, pause = time.monotonic() + most_s, 0.3
    while record["state"] not in _ENDS and time.monotonic() < end:
        time.sleep(pause)
        pause = min(1.5 * pause, 5.0)
        record = client.get(f"/api/submissions/{record['id']}")
        tell(record)
    return record
