"""The folder of data of a trial list."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from gnomon.errors import GnomonError, UnknownNameError, shortened
from gnomon.game.seeded_boards import BoardConditions
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
