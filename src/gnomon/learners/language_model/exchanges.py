"""Exchanges with a language model: each request and answer kept, counted, and never asked twice.

One SQLite file for a run, ``exchanges.sqlite``, with a row an exchange. Of a request the turns that
the one before it had as well are not written again, and what is written is compressed. A trial is
played from its beginning again after an interruption: its requests come in the same order, and
those that were answered get their answers from here.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
import weakref
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

from gnomon.errors import GnomonError

if TYPE_CHECKING:
    from gnomon.learners.language_model.endpoint import Reply

#: Name of the file in a run folder.
EXCHANGES = "exchanges.sqlite"

#: What came of asking: a move, none that could be read, or none for another reason; or a statement.
Kind: TypeAlias = Literal["move", "unreadable", "refused", "filtered", "cut off", "statement"]

#: What may be spent: of tokens in and out, of seconds of waiting, and of money.
_BUDGETS = ("tokens", "seconds", "money")
_COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "trial": "TEXT NOT NULL",
        "number": "INTEGER NOT NULL",
        "episode": "INTEGER NOT NULL",
        "attempt": "INTEGER NOT NULL",
        "kind": "TEXT NOT NULL",
        "finish": "TEXT NOT NULL",
        "model": "TEXT NOT NULL",
        "tokens_in": "INTEGER",
        "tokens_cached": "INTEGER",
        "tokens_out": "INTEGER",
        "tokens_reasoning": "INTEGER",
        "seconds": "REAL NOT NULL",
        "cost": "REAL",
        "n_sends": "INTEGER NOT NULL",
        "sha256": "TEXT NOT NULL",
        "request": "BLOB NOT NULL",
        "answer": "BLOB NOT NULL",
    }
)
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS exchanges ("
    + ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
    + ", PRIMARY KEY (trial, number)) STRICT"
)
_SPENT = (
    "SELECT coalesce(sum(coalesce(tokens_in, 0) + coalesce(tokens_out, 0)), 0), "
    "coalesce(sum(seconds), 0.0), coalesce(sum(cost), 0.0) FROM exchanges"
)
_PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs: money for a million tokens.

    ``cached`` is the price of tokens of a request that the provider had cached; that of ``input``
    if it is not given.

    Examples
    --------
    >>> Price(input=2.0, output=8.0, cached=0.5).of(1000, 400, 100)
    0.0022
    """

    input: float
    output: float
    cached: float | None = None

    def of(self, tokens_in: int | None, cached: int | None, tokens_out: int | None) -> float | None:
        """Return the price of an exchange; None if its tokens are not known."""
        if tokens_in is None or tokens_out is None:
            return None
        n_cached, price = cached or 0, self.input if self.cached is None else self.cached
        fresh = (tokens_in - n_cached) * self.input
        return round((fresh + n_cached * price + tokens_out * self.output) / 1e6, 12)


@dataclass(frozen=True)
class Asking:
    """Where exchanges are kept, and what may be spent on them.

    Parameters
    ----------
    path : Path or None
        The file; None keeps them in memory, for one trial.
    prices : mapping of str to Price
        By the name of the model as the learner has it.
    trial_budget, run_budget : mapping of str to float
        Most ``tokens``, ``seconds`` and ``money``; what is not named has no bound.
    transcript : Path or None
        Another run's file: answers are taken from it, and no model is asked.
    """

    path: Path | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)
    trial_budget: Mapping[str, float] = field(default_factory=dict)
    run_budget: Mapping[str, float] = field(default_factory=dict)
    transcript: Path | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """An exchange: the reply, what it was, and what it took."""

    reply: Reply
    kind: Kind
    seconds: float
    cost: float | None


@final
class Exchanges:
    """The exchanges of one trial, within ``with``.

    Parameters
    ----------
    asking : Asking
    trial : str
        The key of the trial.
    model : str
        As the prices know it.
    """

    def __init__(self, asking: Asking, trial: str, model: str) -> None:
        self._asking, self._trial, self._model = asking, trial, model
        self._number, self._messages = 0, list[Any]()
        self._file = _opened(asking.path)
        bounds = asking.trial_budget.keys() | asking.run_budget.keys()
        if "money" in bounds and model not in asking.prices:
            raise GnomonError(
                f"learner 'language_model': expected a price of {model!r} under [[prices]], since "
                "there is a budget of money; found none"
            )
        self._others: sqlite3.Connection | None = None
        if asking.transcript is not None:
            self._others = _read_only(asking.transcript)
        weakref.finalize(self, _close, self._file, self._others)

    def __enter__(self) -> Exchanges:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        _close(self._file, self._others)

    def ask(
        self,
        body: Mapping[str, Any],
        send: Callable[[Mapping[str, Any]], tuple[Any, int]],
        read: Callable[[Any], Reply],
        judge: Callable[[Reply], Kind],
        *,
        episode: int,
        attempt: int,
    ) -> Answered:
        """Return the answer to the next request of the trial: a kept one, or else ask and keep it.

        Raises
        ------
        GnomonError
            A budget is used up, a kept answer is to another request, or there is none to replay.
        """
        request = json.dumps(body, sort_keys=True, ensure_ascii=False).encode()
        sha256 = hashlib.sha256(request).hexdigest()
        kept = self._kept(self._file, sha256)
        if kept is None and self._others is not None:
            kept = self._kept(self._others, sha256)
            if kept is None:
                raise GnomonError(
                    f"{self._asking.transcript}: expected an answer to request {self._number} of "
                    f"trial {self._trial}, found none"
                )
        if kept is None:
            self._check_budgets()
            began = time.perf_counter()
            answer, n_sends = send(body)
            seconds = round(time.perf_counter() - began, 3)
        else:
            answer, n_sends, seconds = kept
        reply = read(answer)
        found = Answered(reply, judge(reply), seconds, self._cost(reply))
        self._keep(found, body, answer, sha256, (episode, attempt), n_sends)
        self._number += 1
        return found

    def _cost(self, reply: Reply) -> float | None:
        price = self._asking.prices.get(self._model)
        if price is None:
            return None
        return price.of(reply.tokens_in, reply.tokens_cached, reply.tokens_out)

    def _kept(self, file: sqlite3.Connection, sha256: str) -> tuple[Any, int, float] | None:
        """Return the answer that a file has, how often its request was sent, and the seconds."""
        row = file.execute(
            "SELECT sha256, answer, n_sends, seconds FROM exchanges WHERE trial = ? AND number = ?",
            (self._trial, self._number),
        ).fetchone()
        if row is None:
            return None
        if row[0] != sha256:
            raise GnomonError(
                f"request {self._number} of trial {self._trial} is not the one whose answer was "
                "kept; expected the same words and settings: use another run folder"
            )
        return json.loads(zlib.decompress(row[1])), row[2], row[3]

    def _keep(
        self,
        found: Answered,
        body: Mapping[str, Any],
        answer: Any,
        sha256: str,
        where: tuple[int, int],
        n_sends: int,
    ) -> None:
        """Write an exchange down before anything comes of it."""
        messages = list(body["messages"])
        n_same = _n_same(self._messages, messages)
        self._messages = messages
        told = dict(body) | {"messages": messages[n_same:], "n_messages_before": n_same}
        reply = found.reply
        usage = (reply.tokens_in, reply.tokens_cached, reply.tokens_out, reply.tokens_reasoning)
        head = (self._trial, self._number, *where, found.kind, reply.finish, reply.model, *usage)
        row = (*head, found.seconds, found.cost, n_sends, sha256, _packed(told), _packed(answer))
        marks = ", ".join("?" * len(_COLUMNS))
        self._file.execute(f"INSERT OR IGNORE INTO exchanges VALUES ({marks})", row)

    def _check_budgets(self) -> None:
        """Raise GnomonError if a budget of the trial or of the run is used up."""
        of_trial = (f"{_SPENT} WHERE trial = ?", (self._trial,), self._asking.trial_budget, "trial")
        of_run = (_SPENT, (), self._asking.run_budget, "run")
        for query, values, budget, whose in (of_trial, of_run):
            if not budget:
                continue
            spent = self._file.execute(query, values).fetchone()
            for name, n in zip(_BUDGETS, spent, strict=True):
                if n >= budget.get(name, float("inf")):
                    raise GnomonError(
                        f"the budget of the {whose} is used up: {n:,g} of {budget[name]:,g} "
                        f"{name}; with a larger one under [budget] the same run goes on"
                    )


def exchanges_of(path: Path, kind: Kind | None = None) -> list[dict[str, Any]]:
    """Return every exchange of a run, or of a kind, with requests and answers as JSON.

    ``request["n_messages_before"]`` counts the messages that the request before it had as well.
    """
    file = _read_only(path)
    try:
        of_kind = "" if kind is None else "WHERE kind = ?"
        query = f"SELECT * FROM exchanges {of_kind} ORDER BY trial, number"
        rows = file.execute(query, () if kind is None else (kind,)).fetchall()
    finally:
        file.close()
    records = [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
    for record in records:
        for name in ("request", "answer"):
            record[name] = json.loads(zlib.decompress(record[name]))
    return records


#: What attempts and trials took, in SQL: numbers of requests and answers, sums of the rest.
_TOOK = ", ".join(
    [
        "count(*) AS n_requests",
        *(
            f"sum(kind = '{kind}') AS n_{kind.replace(' ', '_')}"
            for kind in ("unreadable", "refused", "filtered", "cut off", "statement")
        ),
        *(f"sum({name}) AS {name}" for name in _COLUMNS if name.startswith("tokens")),
        "sum(seconds) AS asking_s",
        "sum(cost) AS cost",
    ]
)


def spending_of(path: Path, by: Literal["trial", "attempt"]) -> tuple[list[str], list[Any]]:
    """Return what each trial or attempt of a run took: names of columns, and rows.

    Sums are None where the endpoint told no tokens, or there is no price.
    """
    keys = ["trial"] if by == "trial" else ["trial", "episode", "attempt"]
    file = _read_only(path)
    try:
        groups = ", ".join(keys)
        found = file.execute(f"SELECT {groups}, {_TOOK} FROM exchanges GROUP BY {groups}")
        return [column[0] for column in found.description], found.fetchall()
    finally:
        file.close()


def _opened(path: Path | None) -> sqlite3.Connection:
    """Open or make the file; several processes and threads may write to it."""
    place = ":memory:" if path is None else str(path)
    try:
        file = sqlite3.connect(
            place, isolation_level=None, timeout=_PATIENCE_S, check_same_thread=False
        )
        if path is not None:
            _write_ahead(file)
            file.execute("PRAGMA synchronous = NORMAL")
        file.execute(_SCHEMA)
    except sqlite3.Error as error:
        raise GnomonError(f"{place}: cannot keep exchanges there: {error}") from None
    return file


def _write_ahead(file: sqlite3.Connection) -> None:
    """Turn write-ahead logging on; while another does, SQLite refuses at once, without patience."""
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            file.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)


def _close(*connections: sqlite3.Connection | None) -> None:
    for connection in connections:
        if connection is not None:
            connection.close()


def _read_only(path: Path) -> sqlite3.Connection:
    if not path.is_file():
        raise GnomonError(f"{path}: expected the exchanges of a run, found no such file")
    address = f"{path.absolute().as_uri()}?mode=ro"
    return sqlite3.connect(address, uri=True, timeout=_PATIENCE_S, check_same_thread=False)


def _n_same(before: list[Any], now: list[Any]) -> int:
    """Return with how many messages in common two requests begin."""
    n = 0
    while n < min(len(before), len(now)) and before[n] == now[n]:
        n += 1
    return n


def _packed(value: Any) -> bytes:
    return zlib.compress(json.dumps(value, ensure_ascii=False).encode(), 6)
