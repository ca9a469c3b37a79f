"""Files that a plan names, put into the plan: rules, boards, conditions, pages, pictures.

So a study is frozen when it is made: it is played as it was, even if a file changes afterwards.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gnomon.files import read_text
from gohr.errors import ConfigError
from gohr.game import read_board_file
from gohr.rules import read_rule_file

#: The files of pictures that a page may show.
PICTURES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif"}
_MOST_PICTURE_BYTES = 2_000_000


def with_files(record: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """Return a plan in which the texts of files stand for their names.

    Pages may be names that end in ``.md``, rules, ``train`` and ``test`` names that end in
    ``.txt``, ``given`` names of board files, and ``pictures`` names of picture files.

    Raises GnomonError: a file cannot be read. Raises ConfigError: a picture is none, or too large.
    """
    plan = dict(record)
    # What is of another type than expected is left as it is: the plan's own check reports it.
    told = plan.get("rule_texts", {})
    texts = dict(told) if isinstance(told, dict) else {}
    for name in ("consent", "demographics_page", "debrief"):
        plan |= {name: _text(plan[name], base, ".md")} if name in plan else {}
    if isinstance(plan.get("instructions"), list):
        plan["instructions"] = [_text(page, base, ".md") for page in plan["instructions"]]
    if isinstance(plan.get("pictures"), list):
        names = [Path(str(name)) for name in plan["pictures"]]
        plan["pictures"] = {name.name: picture_data(base / name) for name in names}
    if isinstance(plan.get("lists"), dict):
        plan["lists"] = {
            name: [_series(entry, base, texts) for entry in entries]
            if isinstance(entries, list)
            else entries
            for name, entries in plan["lists"].items()
        }
    if isinstance(plan.get("defaults"), dict):
        plan["defaults"] = _series(plan["defaults"], base, texts)
    return plan | ({"rule_texts": texts} if texts else {})


def _series(entry: Any, base: Path, texts: dict[str, str]) -> Any:
    """Return an entry of a list without names of files; the text of its rule goes to ``texts``."""
    if isinstance(entry, str):
        return _rule(entry, base, texts)
    if not isinstance(entry, dict):
        return entry
    found = dict(entry)
    if isinstance(found.get("rule"), str):
        found["rule"] = _rule(found["rule"], base, texts)
    for name in ("train", "test"):
        found |= {name: _text(found[name], base, ".txt")} if name in found else {}
    if isinstance(found.get("given"), list):
        found["given"] = [
            _given_board(base / each) if isinstance(each, str) else each for each in found["given"]
        ]
    return found


def _rule(name: str, base: Path, texts: dict[str, str]) -> str:
    if not name.endswith(".txt"):
        return name
    known = Path(name).stem
    # Reading checks it: an error names file and line.
    read_rule_file(base / name)
    texts[known] = read_text(base / name, noun="rule file")
    return known


def _text(value: Any, base: Path, ending: str) -> Any:
    """Return the text of a file for its name; any other value as it is."""
    is_name = isinstance(value, str) and value.endswith(ending) and "\n" not in value
    return read_text(base / value) if is_name else value


def _given_board(path: Path) -> list[dict[str, Any]]:
    pieces = read_board_file(path).pieces
    return [{"cell": piece.pos, "shape": piece.shape, "color": piece.color} for piece in pieces]


def picture_data(path: Path) -> str:
    """Return a picture as a data address, which pages can show.

    Raises ConfigError: there is no such file, it is no picture, or it has too many bytes.
    """
    kind = PICTURES.get(path.suffix.lower())
    if kind is None or not path.is_file():
        raise ConfigError(f"{path}: expected a picture (gif, jpeg, png)")
    content = path.read_bytes()
    if len(content) > _MOST_PICTURE_BYTES:
        most, n_bytes = _MOST_PICTURE_BYTES, len(content)
        raise ConfigError(f"{path}: expected at most {most:,} bytes, found {n_bytes:,}")
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
