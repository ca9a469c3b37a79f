"""From arguments to a session: the files of a game are found and read, boards and referee set up.

A :class:`DataFolder` says where files are looked for, and which must not be read;
:func:`open_session` makes the session.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from gnomon.errors import GnomonError, RuleSyntaxError, UnknownNameError, shortened
from gnomon.game.board import COLORS, SHAPES
from gnomon.game.captive.arguments import GameArguments
from gnomon.game.captive.board_lines import property_value
from gnomon.game.captive.session import GameLog, Referee, Session
from gnomon.game.formats.board_files import BoardFiles
from gnomon.game.formats.board_source import BoardSource
from gnomon.game.formats.picture_pieces import PicturePiece, find_pictures
from gnomon.game.formats.random_boards import (
    BoardConditions,
    BoardParameters,
    JavaRandom,
    RandomBoards,
)
from gnomon.game.formats.trial_lists import ParameterSet, read_modifier, read_trial_list
from gnomon.rules.catalogue import available_rules, load_rule, read_rule_file
from gnomon.rules.syntax import RuleSet

#: A larger file is no rule, board or list.
_MOST_BYTES = 4_000_000


class DataFolder:
    """The folder of data, and how names of files are understood.

    A name is that of a file as it stands, or below one of the folders of the data, with or without
    its ending.

    If it ``is_confined``, files elsewhere must not be read.
    """

    def __init__(self, path: Path, *, is_confined: bool = False) -> None:
        self.path = path
        self._is_confined = is_confined

    @property
    def shapes(self) -> Path:
        """The folder of pictures."""
        return self.path / "shapes"

    def find(self, name: str, folder: str, ending: str) -> Path:
        """Return the file of this name.

        Raises GnomonError: there is none, or it must not be read, or it is far too large.
        """
        path = self._find(name, folder, ending)
        if path is None:
            raise GnomonError(f"{shortened(name)}: there is no such file")
        return path

    def find_folder(self, name: str, folder: str) -> Path:
        """Return the folder of this name, whether or not it exists."""
        if "\0" in name:
            raise GnomonError(f"{name!r}: expected the name of a folder")
        place = Path(name) if os.path.isdir(name) else self.path / folder / name
        self._check_place(place)
        return place

    def shape_names(self, names: Sequence[str]) -> list[str]:
        """Return names of shapes, upper case; ``folder/*`` stands for all SVG files of a folder.

        Raises GnomonError: the folder has none.
        """
        found: list[str] = []
        for name in names:
            if not name.endswith("/*"):
                found.append(name.upper())
                continue
            folder = self.find_folder(name[:-2].lower(), "shapes")
            if not os.path.isdir(folder):
                folder = self.find_folder(name[:-2], "shapes")
            files = sorted(path.stem for path in folder.glob("*.svg"))
            if not files:
                raise GnomonError(f"{folder}: there are no shapes (*.svg)")
            found += [f"{name[:-1]}{file}".upper() for file in files]
        return found

    def shape_file(self, name: str) -> Path:
        """Return the SVG file of a shape, whatever the case of its letters.

        Raises GnomonError: there is none.
        """
        for path in sorted(self.shapes.rglob("*.svg")):
            if path.relative_to(self.shapes).with_suffix("").as_posix().upper() == name:
                return path
        raise GnomonError(f"{self.shapes}: there is no shape {shortened(name)} (*.svg)")

    def rule(self, name: str) -> tuple[RuleSet, str]:
        """Return a rule of the catalogue, or else of a file, and the name for its results.

        Raises GnomonError: as :meth:`find`, and as :func:`gnomon.rules.catalogue.read_rule_file`.
        """
        if name in available_rules():
            return load_rule(name), name
        path = self._find(name, "rules", ".txt")
        if path is None:
            raise UnknownNameError("rule or file", name, available_rules())
        return read_rule_file(path), path.name.removesuffix(".txt")

    def conditions(self, name: str) -> BoardConditions:
        """Return the conditions of a file; errors as :meth:`rule`."""
        return BoardConditions(read_rule_file(self.find(name, "cond", ".txt")))

    def _find(self, name: str, folder: str, ending: str) -> Path | None:
        if "\0" in name:
            return None
        names = [name] if name.endswith(ending) else [name, name + ending]
        for place in (Path(), self.path / folder):
            for each in names:
                # Unlike Path.is_file, this takes a name that no file can have for that of none.
                if os.path.isfile(place / each):
                    self._check_place(place / each)
                    return place / each
        return None

    def _check_place(self, path: Path) -> None:
        if self._is_confined and not path.resolve().is_relative_to(self.path.resolve()):
            raise GnomonError(f"{path}: this server reads files of its own folder only")
        if os.path.isfile(path) and path.stat().st_size > _MOST_BYTES:
            raise GnomonError(f"{path}: expected at most {_MOST_BYTES} bytes")


Features = Mapping[str, Sequence[str | int]]

#: Makes the log that the arguments ask for, given the name of the rule.
LogOpener = Callable[[GameArguments, str], GameLog | None]

_NUMBERS = re.compile(r"([0-9]{1,9})(?::([0-9]{1,9}))?")


def open_session(
    arguments: GameArguments, *, open_log: LogOpener | None = None, is_confined: bool = False
) -> Session:
    """Make the session that the arguments ask for.

    The log is made by ``open_log``, last of all; none is kept without it. If it ``is_confined``,
    only files below the folder of data may be read. The session has not yet been started.

    Raises GnomonError: something is wrong with the arguments, or with a file that they name.
    """
    opening = _Opening(arguments, DataFolder(arguments.input_dir, is_confined=is_confined))
    parameters, rule = opening.parameters()
    rule_set, rule_name = opening.data.rule(rule)
    source, features = opening.source(parameters)
    return Session(
        Referee(rule_set, source),
        source,
        mode=arguments.mode,
        features=features,
        reveal=arguments.reveal,
        log=None if open_log is None else open_log(arguments, rule_name),
    )


class _Opening:
    """The arguments and the data, and what is made of both."""

    def __init__(self, arguments: GameArguments, data: DataFolder) -> None:
        self.arguments = arguments
        self.data = data
        self._random = JavaRandom(arguments.seed or secrets.randbits(48))

    def parameters(self) -> tuple[ParameterSet | Path, str]:
        """Return how boards come (or the only board's file) and which rule is played."""
        first, *more = self.arguments.positional
        if first.startswith("R:"):
            _check_number(self.arguments.positional, 1, 1)
            return self._rule_and_modifier(first)
        if first.lower().endswith(".csv"):
            _check_number(self.arguments.positional, 2, 2)
            rows = read_trial_list(self.data.find(first, "trial-lists", ".csv"))
            row = int(more[0]) if re.fullmatch("[0-9]{1,9}", more[0]) else 0
            if not 1 <= row <= len(rows):
                found = shortened(more[0])
                raise GnomonError(f"{first}: expected a row from 1 to {len(rows)}, found {found}")
            return _with_rule(rows[row - 1])
        _check_number(self.arguments.positional, 2, 6)
        if "." in more[0]:
            _check_number(self.arguments.positional, 2, 2)
            return self.data.find(more[0], "boards", ".json"), first
        return _of_numbers(more), first

    def _rule_and_modifier(self, text: str) -> tuple[ParameterSet, str]:
        parts = text.split(":")
        if len(parts) != 3 or not all(parts):
            raise GnomonError(f"expected R:RULE:MODIFIER, found {text!r}")
        return read_modifier(self.data.find(parts[2], "modifiers", ".csv")), parts[1]

    def source(self, parameters: ParameterSet | Path) -> tuple[BoardSource, Features]:
        """Return where the boards come from, and the answer to FEATURES."""
        # ⚠ Without a parameter set the answer is always that of the four shapes and colours.
        legacy = {"shape": SHAPES, "color": COLORS}
        if isinstance(parameters, Path):
            return BoardFiles([parameters], shapes=self.data.shapes), legacy
        if parameters.initial_boards is not None:
            folder = self.data.find_folder(parameters.initial_boards, "boards")
            order = parameters.initial_boards_order or "random"
            draw = self._random.next_int
            files = BoardFiles.of_folder(folder, order, draw=draw, shapes=self.data.shapes)
            return files, {"shape": files.shapes, "color": files.colors}
        random = self._board_parameters(parameters)
        cond_train, cond_test = self._condition_files(parameters)
        conditions = cond_train or cond_test
        boards = RandomBoards(
            random,
            self._random,
            self.data.conditions(conditions) if conditions else None,
            testing=cond_train is None and cond_test is not None,
        )
        if random.pictures:
            return boards, _picture_features(random.pictures)
        if not parameters.where:
            return boards, legacy
        return boards, {"shape": random.shape_palette, "color": random.color_palette}

    def _condition_files(self, parameters: ParameterSet) -> tuple[str | None, str | None]:
        """Return the condition files; what the arguments say goes before the parameters."""
        given = self.arguments.cond_train, self.arguments.cond_test
        return given if any(given) else (parameters.cond_train, parameters.cond_test)

    def _board_parameters(self, row: ParameterSet) -> BoardParameters:
        arguments = self.arguments
        if row.pieces is None:
            raise GnomonError(f"{row.where}, field 'min_objects': expected a number, found nothing")
        images = arguments.images or row.images
        crowded = arguments.crowded
        shapes = self.data.shape_names(arguments.shapes or row.shape_palette)
        colors = [name.upper() for name in arguments.colors or row.color_palette]
        try:
            return BoardParameters(
                row.pieces,
                row.shapes or (0, 0),
                row.colors or (0, 0),
                tuple(dict.fromkeys(shapes)) or SHAPES,
                tuple(dict.fromkeys(colors)) or COLORS,
                row.crowded if crowded is None else crowded,
                find_pictures(self.data.shapes, images) if images else (),
            )
        except GnomonError as error:
            raise GnomonError(f"{row.where}: {error}") if row.where else error from None


def _check_number(words: Sequence[str], least: int, most: int) -> None:
    if not least <= len(words) <= most:
        expected = f"{least}" if least == most else f"{least} to {most}"
        raise GnomonError(f"expected {expected} arguments, found {len(words)}: {' '.join(words)}")


def _with_rule(row: ParameterSet) -> tuple[ParameterSet, str]:
    if row.rule_id is None:
        raise GnomonError(f"{row.where}, field 'rule_id': expected a rule, found nothing")
    return row, row.rule_id


def _of_numbers(words: Sequence[str]) -> ParameterSet:
    """Read ``n [shapes colors [list [list]]]``."""
    numbers = [_range(word) for word in words[:3]]
    palettes = [tuple(n for n in word.split(";") if n.strip()) for word in words[3:]]
    return ParameterSet(
        "",
        pieces=numbers[0],
        shapes=numbers[1] if len(numbers) > 1 else None,
        colors=numbers[2] if len(numbers) > 2 else None,
        shape_palette=palettes[0] if palettes else (),
        color_palette=palettes[1] if len(palettes) > 1 else (),
    )


def _range(word: str) -> tuple[int, int]:
    match = _NUMBERS.fullmatch(word)
    if match is None:
        raise GnomonError(f"expected a number n or a range n1:n2, found {word[:40]!r}")
    low, high = match.groups()
    return int(low), int(high or low)


def _picture_features(pictures: Sequence[PicturePiece]) -> Features:
    """Return the values of each property of the pictures, sorted."""
    values: dict[str, set[str]] = {}
    for picture in pictures:
        for key, text in picture.properties.items():
            values.setdefault(key, set()).add(text)
    return {key: [property_value(t) for t in sorted(values[key])] for key in sorted(values)}


def refusal(error: GnomonError) -> str:
    """Return in one line why a game cannot be played, in the words of the reference."""
    if isinstance(error, RuleSyntaxError):
        problem = f"Failed to parse rule row: {error.source_line.strip()}"
    else:
        problem = " ".join(str(error).split())
    return f"Cannot create game generator. Problem: {problem}"
