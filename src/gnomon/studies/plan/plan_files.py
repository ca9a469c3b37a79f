"""Files that a plan names, put into the plan: rules, boards, conditions, pages, looks of pieces.

So a study is frozen when it is made: whatever becomes of the files, it is played as it was.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gnomon._io.text_file import read_text
from gnomon.errors import ConfigError
from gnomon.game.board import Piece
from gnomon.game.formats.board_files import read_board_file
from gnomon.game.formats.picture_pieces import PREFIX, find_pictures
from gnomon.rules.catalogue import read_rule_file
from gnomon.studies.plan.page_html import html_page

#: The files of pictures that a page may show.
PICTURES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif"}
_MOST_PICTURE_BYTES = 2_000_000
#: Pieces may also be SVG, which pages never do more than show.
_PIECES = {**PICTURES, ".svg": "image/svg+xml"}
_MOST_PIECE_BYTES = 300_000


def with_files(record: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """Return a plan in which the texts of files stand for their names.

    Pages may be names that end in ``.md`` or ``.html``, rules, ``train`` and ``test`` names that
    end in ``.txt``, ``given`` names of board files, ``pictures`` names of picture files,
    ``shape_files`` names of SVG files, and ``images`` of a board are patterns of paths; what is
    found for these goes to ``image_files``.

    Raises GnomonError: a file cannot be read. Raises ConfigError: a picture is none, or too large.
    """
    plan = dict(record)
    texts = dict(plan.get("rule_texts", {}))
    for name in ("consent", "demographics_page", "debrief"):
        plan |= {name: _page(plan[name], base)} if name in plan else {}
    if isinstance(plan.get("instructions"), list):
        plan["instructions"] = [_page(page, base) for page in plan["instructions"]]
    if isinstance(plan.get("pictures"), list):
        plan["pictures"] = {Path(name).name: picture_data(base / name) for name in plan["pictures"]}
    if isinstance(plan.get("shape_files"), dict):
        files = plan["shape_files"].items()
        plan["shape_files"] = {name: _text(text, base, ".svg") for name, text in files}
    if isinstance(plan.get("lists"), dict):
        plan["lists"] = {
            name: [_series(entry, base, texts) for entry in entries]
            for name, entries in plan["lists"].items()
        }
    if isinstance(plan.get("defaults"), dict):
        plan["defaults"] = _series(plan["defaults"], base, texts)
    if isinstance(plan.get("board"), dict):
        plan["board"] = _board(plan["board"], base)
    images = dict(plan.get("image_files", {})) | image_files(plan, base)
    return (
        plan
        | ({"rule_texts": texts} if texts else {})
        | ({"image_files": images} if images else {})
    )


def _board(board: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """Return a board with the properties of its images in place of their patterns."""
    patterns = board.get("images")
    if not isinstance(patterns, list):
        return dict(board)
    found = find_pictures(base, [str(pattern) for pattern in patterns])
    return {**board, "images": {each.image: dict(each.properties) for each in found}}


def image_files(plan: Mapping[str, Any], base: Path) -> dict[str, str]:
    """Return the pictures that the boards of a plan have, by their paths, as data addresses.

    Raises ConfigError: as :func:`picture_data`.
    """
    lists = plan.get("lists")
    entries = [e for each in lists.values() for e in each] if isinstance(lists, dict) else []
    entries += [plan.get("defaults"), plan]
    names: set[str] = set()
    for entry in entries:
        if not isinstance(entry, dict):
            continue
        board, given = entry.get("board"), entry.get("given")
        if isinstance(board, dict) and isinstance(board.get("images"), dict):
            names.update(board["images"])
        for pieces in given if isinstance(given, list) else []:
            names.update(piece["image"] for piece in pieces if "image" in piece)
    known = plan.get("image_files", {})
    return {
        name: picture_data(base / name, kinds=_PIECES, most_bytes=_MOST_PIECE_BYTES)
        for name in sorted(names)
        if not name.startswith(PREFIX) and name not in known
    }


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
    if isinstance(found.get("board"), dict):
        found["board"] = _board(found["board"], base)
    if isinstance(found.get("given"), list):
        found["given"] = [
            given_board(base / each, base) if isinstance(each, str) else each
            for each in found["given"]
        ]
    return found


def _rule(name: str, base: Path, texts: dict[str, str]) -> str:
    if not name.endswith(".txt"):
        return name
    known = Path(name).stem
    texts[known] = rule_file_text(base / name)
    return known


def rule_file_text(path: Path) -> str:
    """Return the text of a rule file.

    Raises GnomonError: there is no such file, or it is no rule; the message names file and line.
    """
    read_rule_file(path)
    return read_text(path, noun="rule file")


def _text(value: Any, base: Path, ending: str) -> Any:
    """Return the text of a file for its name; any other value as it is."""
    return read_text(base / value) if _is_name(value, ending) else value


def _page(value: Any, base: Path) -> Any:
    return html_page(base / value) if _is_name(value, ".html") else _text(value, base, ".md")


def _is_name(value: Any, ending: str) -> bool:
    return isinstance(value, str) and value.endswith(ending) and "\n" not in value


def given_board(path: Path, images: Path) -> list[dict[str, Any]]:
    """Return the pieces of a board file as a plan holds them; ``images``: where pictures lie."""
    return [_given_piece(piece) for piece in read_board_file(path, shapes=images).board.pieces]


def _given_piece(piece: Piece) -> dict[str, Any]:
    if piece.image is None:
        return {"cell": piece.pos, "shape": piece.shape, "color": piece.color}
    return {"cell": piece.pos, "image": piece.image, "properties": dict(piece.properties or {})}


def picture_data(
    path: Path, *, kinds: Mapping[str, str] = PICTURES, most_bytes: int = _MOST_PICTURE_BYTES
) -> str:
    """Return a picture as a data address, which pages can show.

    Raises ConfigError: there is no such file, it is no picture, or it has too many bytes.
    """
    kind = kinds.get(path.suffix.lower())
    if kind is None or not path.is_file():
        expected = ", ".join(sorted({name.rpartition("/")[2] for name in kinds.values()}))
        raise ConfigError(f"{path}: expected a picture ({expected})")
    content = path.read_bytes()
    if len(content) > most_bytes:
        raise ConfigError(f"{path}: expected at most {most_bytes:,} bytes, found {len(content):,}")
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
