"""The client of a leaderboard: JSON over HTTP, and the submission of a run folder."""

from __future__ import annotations

import hashlib
import http.client
import ipaddress
import json
import math
import re
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from gnomon.errors import GnomonError
from gnomon.text_files import parse_toml
from gnomon_board.errors import LeaderboardError, RefusedError
from gnomon_board.remote_game import AttemptPlay, Move, Replies, Reply
from gnomon_board.verification import verified_trials
from gohr import ExperimentConfig, Run
from gohr.experiments import write_log

_LARGEST_ANSWER, _PART = 64 << 20, 65_536
#: Statuses that are worth another try.
_BUSY = (408, 429, 500, 502, 503, 504)
#: Seconds before the second try, doubled before each later one up to the longest.
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.2, 2.0
_ENDS = ("verified", "refused", "error", "withdrawn")


class Client:
    """A participant's connection to a leaderboard.

    The server is first contacted by a method. A request is repeated while the server is busy,
    cannot be reached, or stops before the end of its answer, after the pause that ``Retry-After``
    gives, or else 0.2 s, doubled each time up to 2 s. Proxies of the environment are not used and
    redirections are not followed, since they would receive the token. Use one client per thread.

    Parameters
    ----------
    url : str
        Address of the server, ``http://...`` or ``https://...``.
    token : str
        An API token with the scope ``submit``, sent as a bearer token unless empty.
    timeout_s : float
        Maximum time of one try, from the first byte sent to the last received; after one that takes
        longer, the request is not repeated.
    patience_s : float
        Maximum time between the first failure and the last try.
    insecure : bool
        Whether a token may be sent without encryption to another machine.

    Raises
    ------
    GnomonError
        The address is not valid, the token would go to another machine over ``http://``, or it
        has characters that a header cannot hold.
    """

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        timeout_s: float = 600.0,
        patience_s: float = 30.0,
        insecure: bool = False,
    ) -> None:
        if not _is_address(url):
            raise GnomonError(f"expected an address as http://HOST:PORT, found {url!r}")
        parts = urlsplit(url)
        if token and not insecure and parts.scheme == "http" and not _is_here(parts.hostname or ""):
            raise GnomonError(
                f"{url}: expected https:// for another machine, found http://, over which others "
                "can read the token and change the answers (--insecure permits it)"
            )
        if not token.isascii() or any(letter.isspace() for letter in token):
            raise GnomonError(f"{url}: expected a token of ASCII characters without blanks")
        self.url = url.rstrip("/")
        self._prefix = parts.path.rstrip("/")
        self._headers = {"Accept": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._timeout_s, self._patience_s = timeout_s, patience_s
        secure = parts.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        self._connection = kind(parts.hostname or "", parts.port, timeout=timeout_s)
        weakref.finalize(self, self._connection.close)

    def entry(self, season: str, name: str, *, description: str = "") -> dict[str, Any]:
        """Register a learner in a season, and return its entry, or the caller's of this name."""
        path = f"/api/seasons/{quote(season, safe='')}/entries"
        value = {"name": name, "description": description}
        made: dict[str, Any] = self.ask("POST", path, value)
        return made

    def next_attempt(self, entry: int) -> dict[str, Any]:
        """Request another assignment, of other boards; it is counted."""
        made: dict[str, Any] = self.ask("POST", f"/api/entries/{entry}/attempts")
        return made

    def assignment(self, entry: int, attempt: int) -> ExperimentConfig:
        """Return the assigned rules, boards and seed, and ignore the rest of the answer.

        Raises GnomonError: it is not an assignment.
        """
        path = f"/api/entries/{entry}/attempts/{attempt}/config"
        text = self._bytes("GET", path, None, {}).decode(errors="replace")
        try:
            return ExperimentConfig.from_record(parse_toml(text), trusted=False)
        except (GnomonError, ValueError) as error:
            raise LeaderboardError(f"{self.url}: expected an assignment: {error}") from None

    def begin(self, entry: int, attempt: int) -> AttemptPlay:
        """Begin an assignment of a hidden season, or continue it."""
        path = f"/api/remote/entries/{entry}/attempts/{attempt}"
        return AttemptPlay.model_validate(self.ask("POST", path))

    def move(self, moves: Sequence[Move]) -> list[Reply]:
        """Make moves in different trials, and return a reply to each."""
        value = {"moves": [move.model_dump() for move in moves]}
        return Replies.model_validate(self.ask("POST", "/api/remote/moves", value)).replies

    def ask(self, method: str, path: str, value: Any = None, *, data: bytes | None = None) -> Any:
        """Send a record as JSON, or bytes, and return the JSON of the answer.

        It must be safe to send twice. An empty answer is None.

        Raises
        ------
        RefusedError
            The server refused; the message has its reason.
        GnomonError
            There was no answer in HTTP and JSON within the bounds.
        """
        headers = {}
        if data is not None:
            headers["Content-Type"] = "application/octet-stream"
        elif value is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(value).encode()
        answer = self._bytes(method, path, data, headers)
        try:
            return json.loads(answer) if answer else None
        except (ValueError, RecursionError):
            raise GnomonError(f"{self.url}: expected JSON, found {answer[:100]!r}") from None

    def close(self) -> None:
        """Close the connection; the next request opens another one."""
        self._connection.close()

    def _bytes(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> bytes:
        """Return the body of an answer, with tries until a bound is reached."""
        message = (method, self._prefix + path, body, self._headers | headers)
        pause, end = _FIRST_PAUSE_S, math.inf
        while True:
            was_open, wait = self._connection.sock is not None, pause
            try:
                answer, data = self._once(*message)
                if answer.status < 300:
                    return data
                failure: GnomonError = _refused(self.url, answer, data)
                wait, again = max(pause, _number(answer, "Retry-After")), answer.status in _BUSY
            except TimeoutError:
                text = f"{self.url}: expected an answer within {self._timeout_s:g} s"
                failure, again = GnomonError(text), False
            except (OSError, http.client.IncompleteRead) as error:
                if was_open:  # the server may have closed a connection that was idle
                    continue
                failure, again = GnomonError(f"{self.url}: cannot be reached: {error}"), True
            except http.client.HTTPException as error:
                text = f"{self.url}: expected an answer in HTTP, found {error!r}"
                failure, again = GnomonError(text), False
            end = min(end, time.monotonic() + self._patience_s)
            if not again or time.monotonic() + wait > end:
                raise failure
            time.sleep(wait)
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _once(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """Send a request and read its answer; after an error the connection is closed."""
        began = time.monotonic()
        try:
            self._connection.request(method, path, body, headers)
            answer, data = self._connection.getresponse(), bytearray()
            promised = min(_number(answer, "Content-Length", math.inf), _LARGEST_ANSWER)
            # A socket's own time-out would restart at each byte.
            while part := answer.read1(int(min(_PART, promised - len(data)))):
                data += part
                if time.monotonic() - began > self._timeout_s:
                    raise TimeoutError
            # A partial read does not show that a server died after its headers.
            if len(data) < promised < _LARGEST_ANSWER:
                raise http.client.IncompleteRead(bytes(data), int(promised) - len(data))
            answer.close()
        except BaseException:
            self.close()
            raise
        if len(data) >= _LARGEST_ANSWER:  # the rest was not read
            self.close()
        return answer, bytes(data)


def _is_here(host: str) -> bool:
    """Return whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _is_address(url: str) -> bool:
    """Return whether requests can be sent to an address."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an invalid port, or an invalid address in brackets
        return False


def _refused(url: str, answer: http.client.HTTPResponse, said: bytes) -> RefusedError:
    """Return the server's reason on one line: from its JSON, or the beginning of its text."""
    text = "" if said.lstrip().startswith(b"<") else said[:300].decode(errors="replace")
    with suppress(ValueError, KeyError, TypeError, RecursionError):
        text = str(json.loads(said)["detail"]).partition("\n")[0]
    reason = " ".join(text.split()) or answer.reason
    return RefusedError(f"{url}: status {answer.status}: {reason}", answer.status)


def _number(answer: http.client.HTTPResponse, header: str, default: float = 0.0) -> float:
    """Return the number in a header, or a default."""
    try:
        number = float(answer.getheader(header, ""))
    except ValueError:
        return default
    return number if math.isfinite(number) and number >= 0 else default


# -- submission of a run ---------------------------------------------------------------------------


def _pack(
    folder: str | Path, learner: str | None
) -> tuple[ExperimentConfig, dict[str, Any], bytes]:
    """Return the configuration of a run, and the announcement and the log of one learner of it."""
    run = Run.open(folder)
    names = [each.name for each in run.config.learners]
    if learner is None and len(names) > 1:
        raise LeaderboardError(
            f"{folder}: has the learners {', '.join(names)}; choose one of them (--learner)"
        )
    name = learner or names[0]
    trials = [t for t in run.trials() if t.learner == name and t.status == "done"]
    wanted = len(run.config.rules) * run.config.trials
    if len(trials) != wanted:
        raise LeaderboardError(
            f"{folder}: expected {wanted} trials of {name}, found {len(trials)}; "
            "a leaderboard takes whole runs"
        )
    log = write_log({(trial.rule, trial.trial): played for trial, played in run.each(trials)})
    manifest = {
        "learner": run.config.learners[names.index(name)].to_record(),
        "log_sha256": hashlib.sha256(log).hexdigest(),
        "log_bytes": len(log),
    }
    return run.config, manifest, log


def submit(
    client: Client,
    folder: str | Path,
    learner: str | None = None,
    *,
    wait_s: float = 600.0,
    anyway: bool = False,
) -> dict[str, Any]:
    """Verify a run, send it to a leaderboard, and return the verdict.

    It needs a running leaderboard, and a token with the scope ``submit``. Entry and assignment
    are those of the experiment's name, which the server assigned. If an answer is lost, call it
    again: the same run is the same submission.

    Parameters
    ----------
    client : Client
    folder : path
        A run folder.
    learner : str, optional
        Name of the learner; required if the run has several.
    wait_s : float
        Maximum time to wait for the verdict.
    anyway : bool
        Send a run that the server will refuse; a refused run uses up an assignment.

    Returns
    -------
    dict
        The record of the submission, among others ``id``, ``state`` and ``reason``; ``state`` is
        ``not sent`` and ``id`` None if the server would refuse the run.

    Raises
    ------
    GnomonError
        It is not a run folder, is not complete, or the server refuses or cannot be reached.
    """
    config, manifest, log = _pack(folder, learner)
    found = re.fullmatch(r".+-entry-(\d{1,9})-attempt-(\d{1,9})", config.name)
    if found is None:
        raise LeaderboardError(
            f"{folder}: expected a run of an assignment, found the experiment {config.name!r}; "
            "play the file that gnomon-board register writes"
        )
    entry, number = int(found[1]), int(found[2])
    try:
        assigned = None if anyway else client.assignment(entry, number)
    except RefusedError as refused:
        if refused.status != 403:  # in a hidden season there is nothing to verify here
            raise
        assigned = None
    if assigned is not None:
        try:
            if (difference := assigned.difference(config)) is not None:
                raise LeaderboardError(f"differs from the assignment: {difference}")
            verified_trials(log, assigned.to_record(), manifest["learner"]["name"])
        except GnomonError as refusal:
            return {"id": None, "state": "not sent", "reason": str(refusal)}
    path = f"/api/entries/{entry}/attempts/{number}/submission"
    record: dict[str, Any] = client.ask("PUT", path, manifest)
    if record["state"] == "uploading":
        record = client.ask("PUT", f"/api/submissions/{record['id']}/log", data=log)
    end, pause = time.monotonic() + wait_s, 0.3
    while record["state"] not in _ENDS and time.monotonic() < end:
        time.sleep(pause)
        pause = min(1.5 * pause, 5.0)
        record = client.ask("GET", f"/api/submissions/{record['id']}")
    return record
