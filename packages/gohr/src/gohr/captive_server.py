"""The captive game server: from its arguments to a session, over a pipe or over TCP."""

from __future__ import annotations

import os
import re
import secrets
import select
import shlex
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

from gnomon.errors import GnomonError, UnknownNameError, shortened
from gohr.board import COLORS, SHAPES, Board, read_board_file
from gohr.captive import INVALID_COMMAND, OutputMode, Session, in_one_line
from gohr.captive_log import ResultFile
from gohr.errors import RuleSyntaxError
from gohr.rules.catalogue import available_rules, load_rule, resolve_rule
from gohr.seeded_boards import SeededBoards

# -- arguments -------------------------------------------------------------------------------------

#: Pattern of the value of each option, and the pattern in words.
_OPTIONS = {
    # ⚠ For the reference, anything but the three words means FULL.
    "output": ("BRIEF|STANDARD|FULL", "BRIEF, STANDARD or FULL"),
    "seed": ("-?[0-9]{1,18}", "a number"),
    "inputDir": (".+", "a folder"),
    "shapes": (".+", "names"),
    "colors": (".+", "names"),
    "condTrain": (".+", "a file"),
    "condTest": (".+", "a file"),
    "log": (".+", "a file"),
    "logappend": (".+", "a file"),
    "log.nickname": (
        r"[^\s,#\"'\\][^\s,\"'\\]{0,99}",
        "1 to 100 characters without blanks, commas and quotes",
    ),
    "log.run": ("[0-9]{1,9}", "a number from 0"),
    "log.format": ("Long|Compact", "Long or Compact"),
    "reveal": ("true|false", "true or false"),
}


def open_session(
    words: Iterable[str], *, mode: OutputMode = "FULL", folder: Path | None = None
) -> Session:
    """Create the session described by command-line arguments, not yet started.

    Options are ``name=value`` or ``-Dname=value``, anywhere. Files are looked for as they are
    named, and below the folders ``rules``, ``boards`` and ``cond`` of ``inputDir=``. For the client
    of a server, ``folder`` takes the place of ``inputDir=``: files outside it are not read, and no
    result file is written.

    Raises UnknownNameError: an option or a rule is unknown. Raises GnomonError: something else is
    wrong with the arguments, or with a file that they name.
    """
    (name, *boards), options = _separated(words)
    files = _Files(folder or Path(options.get("inputDir", "")), is_confined=folder is not None)
    path = None if name in available_rules() else files.find(name, "rules", ".txt")
    if path is None and name not in available_rules():
        raise UnknownNameError("rule or file", name, available_rules())
    rule_set = load_rule(name) if path is None else resolve_rule(path.absolute())
    source = _source(boards, options, files)
    log = None
    result_file = options.get("log", options.get("logappend"))
    if result_file is not None:
        if folder is not None:
            raise GnomonError("this server writes no result files for its clients")
        rule_name = name if path is None else path.name.removesuffix(".txt")
        log = ResultFile(
            result_file,
            (options["log.nickname"], rule_name, int(options["log.run"])),
            append="log" not in options,
            compact=options.get("log.format") == "Compact",
        )
    mode = cast(OutputMode, options.get("output", mode))
    return Session(rule_set, source, mode=mode, reveal=options.get("reveal") == "true", log=log)


def _separated(words: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """Return the positional arguments and the options, checked as far as no file is needed."""
    positional: list[str] = []
    options: dict[str, str] = {}
    for word in words:
        match = re.fullmatch(r"(?:-D)?([A-Za-z][A-Za-z_.]*)=(.*)", word, re.DOTALL)
        if match is None:
            positional.append(word)
            continue
        name, value = match.groups()
        if name not in _OPTIONS:
            raise UnknownNameError("option", name, _OPTIONS)
        pattern, expected = _OPTIONS[name]
        if not re.fullmatch(pattern, value):
            raise GnomonError(f"{name}=: expected {expected}, found {value[:100]!r}")
        options[name] = value
    for one, other in (("condTrain", "condTest"), ("log", "logappend")):
        if one in options and other in options:
            raise GnomonError(f"expected {one}= or {other}=, found both")
    if "log" in options or "logappend" in options:
        for name in ("log.nickname", "log.run"):
            if name not in options:
                raise GnomonError(f"a result file needs {name}=")
    most = 2 if "." in "".join(positional[1:2]) else 6
    if not 2 <= len(positional) <= most:
        found = f"{len(positional)}: {' '.join(positional)}" if positional else "nothing"
        expected = "RULE N [SHAPES COLORS [LIST [LIST]]] or RULE BOARD.json"
        raise GnomonError(f"expected {expected}, found {found}")
    return positional, options


def _source(words: Sequence[str], options: dict[str, str], files: _Files) -> Board | SeededBoards:
    """Return the board of a file, or boards drawn by random numbers."""
    if "." in words[0]:
        return read_board_file(files.found(words[0], "boards", ".json"))
    pieces, shapes, colors, *_ = [*map(_range, words[:3]), (0, 0), (0, 0)]
    shape_list, color_list, *_ = [*words[3:], "", ""]
    condition = options.get("condTrain", options.get("condTest"))
    lines = None
    if condition is not None:
        lines = resolve_rule(files.found(condition, "cond", ".txt").absolute())
    return SeededBoards(
        pieces,
        shapes,
        colors,
        shape_palette=_names(options.get("shapes", shape_list)) or SHAPES,
        color_palette=_names(options.get("colors", color_list)) or COLORS,
        seed=int(options.get("seed", 0)) or secrets.randbits(48),
        conditions=lines,
        testing="condTest" in options,
    )


def _names(text: str) -> tuple[str, ...]:
    """Return the different names between semicolons, upper case."""
    parts = (part.strip().upper() for part in text.split(";"))
    return tuple(dict.fromkeys(part for part in parts if part))


def _range(word: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{1,9})(?::([0-9]{1,9}))?", word)
    if match is None:
        raise GnomonError(f"expected a number n or a range n1:n2, found {word[:40]!r}")
    low, high = match.groups()
    return int(low), int(high or low)


class _Files:
    """Files as they are named, or below a folder; only the latter if it ``is_confined``."""

    most_bytes = 4_000_000

    def __init__(self, folder: Path, *, is_confined: bool) -> None:
        self._folder, self._is_confined = folder, is_confined

    def found(self, name: str, kind: str, ending: str) -> Path:
        """Return the file of this name, with or without its ending."""
        path = self.find(name, kind, ending)
        if path is None:
            raise GnomonError(f"{shortened(name)}: there is no such file")
        return path

    def find(self, name: str, kind: str, ending: str) -> Path | None:
        """Return the file of this name, or None if there is none."""
        if "\0" in name:
            return None
        names = dict.fromkeys((name, name.removesuffix(ending) + ending))
        places = (base / each for base in (Path(), self._folder / kind) for each in names)
        # Unlike Path.is_file, this is false for a name that no file can have.
        path = next((place for place in places if os.path.isfile(place)), None)
        if path is None:
            return None
        if self._is_confined and not path.resolve().is_relative_to(self._folder.resolve()):
            raise GnomonError(f"{path}: this server reads files of its own folder only")
        if path.stat().st_size > self.most_bytes:
            raise GnomonError(f"{path}: expected at most {self.most_bytes} bytes")
        return path


def refusal(error: GnomonError) -> str:
    """Return in one line why a game cannot be played, in the words of the reference."""
    problem = in_one_line(error)
    if isinstance(error, RuleSyntaxError):
        problem = f"Failed to parse rule row: {error.source_line.strip()}"
    return f"Cannot create game generator. Problem: {problem}"


# -- lines -----------------------------------------------------------------------------------------

#: Most bytes of a line that a client sends.
LINE_LIMIT = 65_536

#: Bytes read at once; the same as in the reference.
_CHUNK = 8192


class _LineTooLongError(Exception):
    """A line that no client needs; it ends the conversation."""


class _Lines:
    """Lines of text, from bytes that are received in pieces; an empty piece is the end."""

    def __init__(self, receive: Callable[[], bytes]) -> None:
        self._receive = receive
        #: What was received after the last line.
        self.waiting = b""

    def read(self) -> str | None:
        """Return the next line; None at the end."""
        while b"\n" not in self.waiting and len(self.waiting) <= LINE_LIMIT:
            piece = self._receive()
            if not piece and not self.waiting:
                return None
            # A last line without its end is a line.
            self.waiting += piece or b"\n"
        line, _, self.waiting = self.waiting.partition(b"\n")
        if len(line) > LINE_LIMIT:
            raise _LineTooLongError("Invalid input - the line is too long")
        return line.decode("utf-8", errors="replace").rstrip("\r")


def _data(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


# -- over a pipe -----------------------------------------------------------------------------------

#: Seconds to poll for the next command before sleeping: an answer takes a few microseconds, but a
#: core that has gone to sleep takes tens of them to wake, each time.
_AWAKE_S = 0.001

#: Commands to sleep for after one that did not come in that time.
_ASLEEP = 200


def serve_pipe(session: Session, input_fd: int = 0, output_fd: int = 1) -> None:
    """Play a session, not yet started, with the client at the other end of two pipes.

    It ends with EXIT or the end of input. Commands that arrive together with a NEW are lost, as in
    the reference; a client that waits for each answer sees no difference.

    Raises GnomonError: the first episode cannot begin; nothing has been written.
    """

    def say(answer: Sequence[str]) -> None:
        # At once: a client that waits for an answer waits for all of it.
        data = _data(answer)
        while data:
            data = data[os.write(output_fd, data) :]

    lines = _Lines(_Input(input_fd).read)
    try:
        say(session.start())
        while not session.over and (line := lines.read()) is not None:
            n_new = session.n_new
            say(session.answer(line))
            if session.n_new != n_new:
                lines.waiting = b""
    except _LineTooLongError as error:
        say(session.refuse(str(error)))
    except BrokenPipeError:
        return  # the client has gone, which is its way to end the session
    finally:
        session.close()


class _Input:
    """A file descriptor, polled for a moment before the process sleeps, while that pays."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._asleep = 0
        self._poll = select.poll()
        self._poll.register(fd, select.POLLIN)

    def read(self) -> bytes:
        """Wait for input and return it; nothing at its end."""
        until = time.perf_counter() + _AWAKE_S
        while not self._asleep and not self._poll.poll(0):
            os.sched_yield()  # a client on this very core comes first
            if time.perf_counter() > until:
                self._asleep = _ASLEEP
        self._asleep = max(self._asleep - 1, 0)
        return os.read(self._fd, _CHUNK)


# -- over TCP --------------------------------------------------------------------------------------


class CaptiveServer(socketserver.ThreadingTCPServer):
    """Serves clients at a TCP port, each in a thread: ``serve_forever`` until ``shutdown``.

    A client's first line is ``GAME`` and the arguments of a game, in STANDARD mode by default; the
    rest is as over a pipe. Clients can use the rules of the library and files below ``folder``.
    The port 0 is any that is free (see ``server_address``). A client that sends no complete line,
    or takes no answer, for ``idle_s`` seconds is disconnected.
    """

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 100
    most_clients = 1000

    def __init__(
        self, folder: Path, *, host: str = "127.0.0.1", port: int = 0, idle_s: float = 600.0
    ) -> None:
        super().__init__((host, port), _Client)
        self.folder, self.idle_s = folder, idle_s

    def verify_request(self, request: object, client_address: object) -> bool:
        """Refuse a client if there are too many."""
        return threading.active_count() <= self.most_clients


class _Client(socketserver.BaseRequestHandler):
    """The conversation with a client."""

    server: CaptiveServer
    request: socket.socket

    def handle(self) -> None:
        """Answer the lines of a client until it leaves or is disconnected."""
        session, lines = None, _Lines(self._receive)
        try:
            while session is None or not session.over:
                self._until = time.monotonic() + self.server.idle_s
                line = lines.read()
                if line is None:
                    return
                if session is not None:
                    self._say(session.answer(line))
                elif line.strip() and (session := self._begun(line)) is None:
                    return
        except _LineTooLongError as error:
            with suppress(OSError):
                self._say([f"{INVALID_COMMAND} 0 0", f"# {error}"])
        except OSError:
            pass  # the client has gone, or takes no answers
        finally:
            if session is not None:
                session.close()

    def _receive(self) -> bytes:
        self.request.settimeout(max(self._until - time.monotonic(), 1e-3))
        try:
            return self.request.recv(_CHUNK)
        except TimeoutError:
            self._say([f"# Nothing heard for {self.server.idle_s:g} s. Goodbye"])
            raise

    def _begun(self, line: str) -> Session | None:
        """Answer the first line, which must be a GAME; return its session if it begins one."""
        word, _, rest = line.strip().partition(" ")
        if word.upper() != "GAME":
            self._say(["-1 0 0", "# Expected GAME and its arguments"])
            return None
        try:
            words = shlex.split(rest)
            session = open_session(words, mode="STANDARD", folder=self.server.folder)
            try:
                self._say(session.start())
            except BaseException:
                session.close()
                raise
            return session
        except RuleSyntaxError as error:
            # The text of the file is not repeated: it may be no rule.
            problem = f"Failed to parse the rule: line {error.line}, column {error.column}"
        except ValueError:
            problem = "GAME: a quote is not closed"
        except GnomonError as error:
            problem = in_one_line(error)
        self._say(["-5 0 0", f"# {problem}"])
        return None

    def _say(self, lines: Sequence[str]) -> None:
        """Send lines. Raises TimeoutError: the client does not take them in time."""
        self.request.settimeout(self.server.idle_s)
        self.request.sendall(_data(lines))
