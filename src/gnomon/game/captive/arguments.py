"""Arguments of a served game, from the command line or after GAME: positional ones and options."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, cast, get_args

from gnomon.errors import GnomonError, UnknownNameError
from gnomon.game.captive.dialogue import OutputMode

#: The kinds of result files.
LogFormat = Literal["Long", "Compact"]

_OPTION = re.compile(r"(-D)?([A-Za-z][A-Za-z_.]*)=(.*)", re.DOTALL)
_NICKNAME = re.compile(r"[^\s,#\"'\\][^\s,\"'\\]{0,99}")

_OPTIONS = (
    "output", "seed", "inputDir", "shapes", "colors", "condTrain", "condTest", "crowded",
    "images", "log", "logappend", "log.append", "log.nickname", "log.run", "log.format",
    "detailedTranscript", "reveal", "pipelined",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class GameArguments:
    """The arguments of a game, checked as far as they can be without reading a file.

    Parameters
    ----------
    positional : tuple of str
        ``RULE BOARD.json``, ``RULE n [shapes colors [list [list]]]``, ``LIST.csv row`` or
        ``R:rule:modifier``.
    mode : {'BRIEF', 'STANDARD', 'FULL'}
    seed : int
        0 for one of the moment.
    input_dir : Path
        Folder of the data: ``rules``, ``modifiers``, ``trial-lists``, ``boards``,
        ``cond``, ``shapes``.
    shapes, colors, images : tuple of str
        Palettes and pictures; empty if not given.
    cond_train, cond_test : str or None
        A condition file, and by its option the boards to begin with.
    crowded : bool or None
        None if not given.
    log : str or None
        The result file.
    append : bool
        Whether to go on with a result file.
    nickname, run, log_format : str, int, {'Long', 'Compact'}
        What the result file says of the player, and how.
    transcript : str or None
        The file for every attempt.
    reveal : bool
        Whether the boards give the answer away, as the reference's do.
    pipelined : bool
        Whether what arrives together with NEW is kept.
    """

    positional: tuple[str, ...]
    mode: OutputMode = "FULL"
    seed: int = 0
    input_dir: Path = Path()
    shapes: tuple[str, ...] = ()
    colors: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    cond_train: str | None = None
    cond_test: str | None = None
    crowded: bool | None = None
    log: str | None = None
    append: bool = False
    nickname: str = ""
    run: int = 0
    log_format: LogFormat = "Long"
    transcript: str | None = None
    reveal: bool = False
    pipelined: bool = False
    given: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def with_mode(self, mode: OutputMode) -> GameArguments:
        """Return the arguments with another mode, unless ``output=`` was given."""
        return self if "output" in self.given else replace(self, mode=mode)

    def in_folder(self, folder: Path) -> GameArguments:
        """Return the arguments with another folder of data."""
        return replace(self, input_dir=folder)


def read_arguments(words: Iterable[str]) -> GameArguments:
    """Tell options from positional arguments, and check both.

    They may come in any order; an option is ``name=value``, ``name= value`` or ``-Dname=value``, of
    which the last form wins over the others.

    Raises UnknownNameError: an option that there is not, with the nearest names. Raises
    GnomonError: a value that the option does not take, or too few or too many arguments.
    """
    positional, options = _separated(list(words))
    if not positional:
        raise GnomonError(
            "expected RULE N [SHAPES COLORS [LIST [LIST]]], RULE BOARD.json, TRIALLIST.csv ROW "
            "or R:RULE:MODIFIER; found nothing"
        )
    log = options.get("log")
    append = options.get("logappend", options.get("log.append"))
    if log is not None and append is not None:
        raise GnomonError("expected log= or logappend=, found both")
    arguments = GameArguments(
        tuple(positional),
        # ⚠ Anything but the three words, in upper case, means FULL without a warning.
        mode=cast(OutputMode, _word(options, "output", get_args(OutputMode), "FULL")),
        seed=_integer(options, "seed", 0, -(2**63), 2**63 - 1),
        input_dir=Path(options.get("inputDir", ".")),
        shapes=_names(options, "shapes"),
        colors=_names(options, "colors"),
        images=_names(options, "images"),
        cond_train=options.get("condTrain"),
        cond_test=options.get("condTest"),
        crowded=_boolean(options, "crowded") if "crowded" in options else None,
        log=log if append is None else append,
        append=append is not None,
        nickname=options.get("log.nickname", ""),
        run=_integer(options, "log.run", 0, 0, 2**31 - 1),
        log_format=_log_format(options),
        transcript=options.get("detailedTranscript"),
        reveal=_boolean(options, "reveal"),
        pipelined=_boolean(options, "pipelined"),
        given=options,
    )
    _check_together(arguments)
    return arguments


def _separated(words: list[str]) -> tuple[list[str], dict[str, str]]:
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


def _check_together(arguments: GameArguments) -> None:
    """Check what one option demands of another."""
    if arguments.cond_train is not None and arguments.cond_test is not None:
        raise GnomonError("expected condTrain= or condTest=, found both")
    if arguments.log is None:
        if arguments.transcript is not None:
            raise GnomonError("detailedTranscript= needs log= or logappend=")
        return
    for name in ("log.nickname", "log.run"):
        if name not in arguments.given:
            raise GnomonError(f"a result file needs {name}=")
    if not _NICKNAME.fullmatch(arguments.nickname):
        raise GnomonError(
            "log.nickname=: expected 1 to 100 characters without blanks, commas and quotes, found "
            f"{arguments.nickname[:100]!r}"
        )


def _word(options: Mapping[str, str], name: str, known: tuple[str, ...], default: str) -> str:
    value = options.get(name, default)
    return value if value in known else default


def _log_format(options: Mapping[str, str]) -> LogFormat:
    found = options.get("log.format", "Long")
    for known in get_args(LogFormat):
        if found == known:
            return cast(LogFormat, known)
    raise GnomonError(f"log.format=: expected Long or Compact, found {found!r}")


def _integer(options: Mapping[str, str], name: str, default: int, least: int, most: int) -> int:
    if name not in options:
        return default
    text = options[name]
    if re.fullmatch(r"[+-]?[0-9]{1,19}", text) and least <= int(text) <= most:
        return int(text)
    expected = "a number" if least < 0 else f"a number from {least}"
    raise GnomonError(f"{name}=: expected {expected}, found {text[:40]!r}")


def _boolean(options: Mapping[str, str], name: str) -> bool:
    text = options.get(name, "false").lower()
    if text not in ("true", "false"):
        raise GnomonError(f"{name}=: expected true or false, found {text[:40]!r}")
    return text == "true"


def _names(options: Mapping[str, str], name: str) -> tuple[str, ...]:
    """Return the names between semicolons."""
    parts = (part.strip() for part in options.get(name, "").split(";"))
    return tuple(part for part in parts if part)
