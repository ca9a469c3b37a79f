"""From the arguments of the captive game server to a session."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from gnomon.errors import GnomonError, UnknownNameError, shortened
from gohr.errors import RuleSyntaxError
from gohr.game.board import COLORS, SHAPES
from gohr.game.board_files import read_board_file
from gohr.game.captive.dialogue import OutputMode, in_one_line
from gohr.game.captive.session import BoardSource, OneBoard, Session
from gohr.game.captive_log import ResultFiles
from gohr.game.seeded_boards import BoardConditions, BoardParameters, JavaRandom, RandomBoards
from gohr.rules.catalogue import available_rules, load_rule, read_rule_file
from gohr.rules.syntax import RuleSet

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a game, checked as far as they can be without reading a file.

    ``boards`` is the name of a board file, or ``n [shapes colors [list [list]]]``; ``options`` has
    the values of the options that were given, by name.
    """

    rule: str
    boards: tuple[str, ...]
    options: Mapping[str, Any]


def _whole_number(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if re.fullmatch(r"[+-]?[0-9]{1,19}", text) and least <= int(text) <= most:
            return int(text)
        raise ValueError("a number" if least < 0 else f"a number from {least}")

    return read


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("true or false")
    return text.lower() == "true"


def _names(text: str) -> tuple[str, ...]:
    """Return the different names between semicolons, upper case."""
    parts = (part.strip().upper() for part in text.split(";"))
    return tuple(dict.fromkeys(part for part in parts if part))


def _nickname(text: str) -> str:
    if not re.fullmatch(r"[^\s,#\"'\\][^\s,\"'\\]{0,99}", text):
        raise ValueError("1 to 100 characters without blanks, commas and quotes")
    return text


def _one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"{', '.join(words[:-1])} or {words[-1]}")
        return text

    return read


#: Parser of the value of each option.
_OPTIONS: Mapping[str, Callable[[str], Any]] = {
    # ⚠ For the reference, anything but the three words means FULL.
    "output": _one_of(*get_args(OutputMode)),
    "seed": _whole_number(-(2**63), 2**63 - 1),
    "inputDir": Path,
    "shapes": _names,
    "colors": _names,
    "condTrain": str,
    "condTest": str,
    "log": str,
    "logappend": str,
    "log.append": str,
    "log.nickname": _nickname,
    "log.run": _whole_number(0, 2**31 - 1),
    "log.format": _one_of("Long", "Compact"),
    "detailedTranscript": str,
    "reveal": _truth,
    "pipelined": _truth,
}
_OPTION = re.compile(r"(-D)?([A-Za-z][A-Za-z_.]*)=(.*)", re.DOTALL)


def read_arguments(words: Iterable[str]) -> Arguments:
    """Separate options from positional arguments, and check both.

    They may come in any order; an option is ``name=value``, ``name= value`` or ``-Dname=value``,
    the last of which takes precedence.

    Raises UnknownNameError: an unknown option, with the nearest names. Raises GnomonError: a value
    that the option does not take, or too few or too many arguments.
    """
    positional, texts = _separated(words)
    options: dict[str, Any] = {}
    for name, text in texts.items():
        try:
            options[name] = _OPTIONS[name](text)
        except ValueError as error:
            found = repr(text[:100])
            raise GnomonError(f"{name}=: expected {error}, found {found}") from None
    if not positional:
        raise GnomonError(
            "expected RULE N [SHAPES COLORS [LIST [LIST]]] or RULE BOARD.json, found nothing"
        )
    _check_together(options)
    most = 2 if len(positional) > 1 and "." in positional[1] else 6
    if not 2 <= len(positional) <= most:
        expected = "2" if most == 2 else "2 to 6"
        found = f"{len(positional)}: {' '.join(positional)}"
        raise GnomonError(f"expected {expected} arguments, found {found}")
    return Arguments(positional[0], tuple(positional[1:]), options)


def _separated(words: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """Return the positional arguments, and the options by name."""
    positional: list[str] = []
    options: dict[str, str] = {}
    system: dict[str, str] = {}
    waiting: str | None = None
    for word in words:
        match = _OPTION.fullmatch(word)
        if waiting is not None:
            options[waiting], waiting = word, None
        elif match is None:
            positional.append(word)
        else:
            prefix, name, value = match.groups()
            if name not in _OPTIONS:
                raise UnknownNameError("option", name, _OPTIONS)
            if prefix:
                system[name] = value
            elif value:
                options[name] = value
            else:
                waiting = name
    if waiting is not None:
        raise GnomonError(f"expected a value after {waiting}=")
    return positional, options | system


def _check_together(options: Mapping[str, Any]) -> None:
    """Check the dependencies between options."""
    if "condTrain" in options and "condTest" in options:
        raise GnomonError("expected condTrain= or condTest=, found both")
    appended = "logappend" in options or "log.append" in options
    if "log" in options and appended:
        raise GnomonError("expected log= or logappend=, found both")
    if "log" in options or appended:
        for name in ("log.nickname", "log.run"):
            if name not in options:
                raise GnomonError(f"a result file needs {name}=")
    elif "detailedTranscript" in options:
        raise GnomonError("detailedTranscript= needs log= or logappend=")


def open_session(
    arguments: Arguments, *, mode: OutputMode = "FULL", folder: Path | None = None
) -> Session:
    """Create the session described by the arguments, not yet started.

    Files are looked for as they are named, and below the folders ``rules``, ``boards`` and ``cond``
    of ``inputDir=``. For the client of a server, ``folder`` takes the place of ``inputDir=``: files
    outside it are not read, and no result files are written.

    Raises GnomonError: something is wrong with the arguments, or with a file that they name.
    """
    options = arguments.options
    is_client = folder is not None
    files = _Files(folder or options.get("inputDir", Path()), is_confined=is_client)
    rule_set, rule_name = files.rule(arguments.rule)
    source = _source(arguments, files)
    log = None
    path = options.get("log", options.get("logappend", options.get("log.append")))
    if path is not None:
        if is_client:
            raise GnomonError("this server writes no result files for its clients")
        log = ResultFiles(
            path,
            (options["log.nickname"], rule_name, options["log.run"]),
            append="log" not in options,
            compact=options.get("log.format") == "Compact",
            transcript=options.get("detailedTranscript"),
        )
    mode = options.get("output", mode)
    return Session(rule_set, source, mode=mode, reveal=options.get("reveal", False), log=log)


def _source(arguments: Arguments, files: _Files) -> BoardSource:
    """Return the source of the boards: a file, or random numbers."""
    options, words = arguments.options, arguments.boards
    if "." in words[0]:
        return OneBoard(read_board_file(files.find(words[0], "boards", ".json")))
    pieces, shapes, colors, *_ = [*map(_range, words[:3]), (0, 0), (0, 0)]
    shape_list, color_list, *_ = [*map(_names, words[3:]), (), ()]
    condition = options.get("condTrain", options.get("condTest"))
    return RandomBoards(
        BoardParameters(
            pieces,
            shapes,
            colors,
            options.get("shapes") or shape_list or SHAPES,
            options.get("colors") or color_list or COLORS,
        ),
        JavaRandom(options.get("seed") or secrets.randbits(48)),
        None if condition is None else BoardConditions(files.condition(condition)),
        testing="condTest" in options,
    )


def _range(word: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{1,9})(?::([0-9]{1,9}))?", word)
    if match is None:
        raise GnomonError(f"expected a number n or a range n1:n2, found {word[:40]!r}")
    low, high = match.groups()
    return int(low), int(high or low)


#: Maximum size of a rule or board file.
_MOST_BYTES = 4_000_000


class _Files:
    """Files as they are named, or below a folder; only the latter if it ``is_confined``."""

    def __init__(self, folder: Path, *, is_confined: bool) -> None:
        self._folder = folder
        self._is_confined = is_confined

    def rule(self, name: str) -> tuple[RuleSet, str]:
        """Return a rule of the catalogue, or else of a file, and its name in result files."""
        if name in available_rules():
            return load_rule(name), name
        path = self._find(name, "rules", ".txt")
        if path is None:
            raise UnknownNameError("rule or file", name, available_rules())
        return read_rule_file(path), path.name.removesuffix(".txt")

    def condition(self, name: str) -> RuleSet:
        """Return the content of a condition file."""
        return read_rule_file(self.find(name, "cond", ".txt"))

    def find(self, name: str, folder: str, ending: str) -> Path:
        """Return the file of this name, with or without its ending."""
        path = self._find(name, folder, ending)
        if path is None:
            raise GnomonError(f"{shortened(name)}: there is no such file")
        return path

    def _find(self, name: str, folder: str, ending: str) -> Path | None:
        if "\0" in name:
            return None
        for place in (Path(), self._folder / folder):
            for each in dict.fromkeys((name, name.removesuffix(ending) + ending)):
                # Unlike Path.is_file, this is false for a name that no file can have.
                if os.path.isfile(place / each):
                    self._check(place / each)
                    return place / each
        return None

    def _check(self, path: Path) -> None:
        if self._is_confined and not path.resolve().is_relative_to(self._folder.resolve()):
            raise GnomonError(f"{path}: this server reads files of its own folder only")
        if path.stat().st_size > _MOST_BYTES:
            raise GnomonError(f"{path}: expected at most {_MOST_BYTES} bytes")


def refusal(error: GnomonError) -> str:
    """Return in one line why a game cannot be played, in the words of the reference."""
    if isinstance(error, RuleSyntaxError):
        problem = f"Failed to parse rule row: {error.source_line.strip()}"
    else:
        problem = in_one_line(error)
    return f"Cannot create game generator. Problem: {problem}"
