"""Files of JSON: contents, lines, and the parts of large files one at a time."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gnomon.errors import ScoreDataError
from gnomon.scores.readers.files import content_of, ending, opened

#: Endings of files with a JSON object in each line.
JSON_LINES = (".jsonl", ".ndjson")
_BLANKS = re.compile(r"\s*")
#: Number of characters of a large JSON file that are read at a time.
_PART = 1_000_000


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; of two values of one key the last would replace the first."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ScoreDataError(f"expected different keys in an object, found {twice[:60]!r} twice")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_object)


def json_of(data: bytes, name: str) -> Any:
    """Return what JSON text holds; `name` is what a message calls it."""
    try:
        return json.loads(data, object_pairs_hook=_object)
    except ScoreDataError as error:
        raise ScoreDataError(f"{name}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise _no_json(error, name) from None


def _no_json(error: ValueError | RecursionError, name: str) -> ScoreDataError:
    """Return the error about what is no JSON, or is not there to its end."""
    reason = str(error)
    if isinstance(error, json.JSONDecodeError):
        is_cut = error.pos >= len(error.doc) or error.msg.startswith("Unterminated")
        reason = f"it is cut off ({error})" if is_cut else reason
    return ScoreDataError(f"{name}: expected JSON; {reason}")


def json_content(path: Path) -> Any:
    """Return what a JSON file holds; of JSON lines the list of their objects."""
    if ending(path) in JSON_LINES:
        return list(json_lines(path))
    try:
        return json_of(content_of(path), str(path))
    except ScoreDataError as error:
        if "Extra data: line 2" not in str(error):
            raise
        return list(json_lines(path))  # lines in spite of the name


def json_object(path: Path) -> dict[str, Any]:
    """Return the object that a JSON file holds."""
    content = json_content(path)
    if not isinstance(content, dict):
        raise ScoreDataError(f"{path}: expected a JSON object, found {type(content).__name__}")
    return content


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the object of each line of a file, empty lines left out."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                found = json_of(line, f"{path}, line {number}")
                if isinstance(found, str):  # some loggers write each object as a text
                    found = json_of(found.encode(), f"{path}, line {number}")
                if not isinstance(found, dict):
                    kind = type(found).__name__
                    message = f"{path}, line {number}: expected a JSON object, found {kind}"
                    raise ScoreDataError(message)
                yield found
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise ScoreDataError(f"{path}: cannot read this file: {reason}") from None


class JsonParts:
    """The parts of a large JSON file, of which one is in memory at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._text, self._at = "", 0

    def items(self, name: str | None = None) -> Iterator[tuple[str, Any]]:
        """Yield what a file holds in its order: entries of the object, or elements of the list.

        Each comes with its key; elements of the list that stands under `name` come one by one.
        """
        with opened(self._path) as self._file:
            try:
                if self._next() == "[":
                    yield from (("", item) for item in self._list())
                    return
                self._take("{")
                while self._next() == '"':
                    key = self._value()
                    self._take(":")
                    if key == name and self._next() == "[":
                        yield from ((key, item) for item in self._list())
                    else:
                        yield key, self._value()
                    if self._next() == ",":
                        self._at += 1
                self._take("}", "Expecting property name enclosed in double quotes")
            except (ValueError, RecursionError) as error:
                raise _no_json(error, str(self._path)) from None
            except ScoreDataError as error:
                raise ScoreDataError(f"{self._path}: {error}") from None

    def _list(self) -> Iterator[Any]:
        self._take("[")
        while self._next() != "]":
            yield self._value()
            if self._next() == ",":
                self._at += 1
            elif self._next() != "]":
                self._take(",")
        self._at += 1

    def _value(self) -> Any:
        """Return the value that begins here."""
        self._next()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except ValueError:
                if not self._more():
                    raise
                continue
            # A number goes on, perhaps, where the text ends.
            if end < len(self._text) or not self._more():
                self._at = end
                return value

    def _next(self) -> str:
        """Return the next character that is no blank, "" at the end of the file."""
        while True:
            found = _BLANKS.match(self._text, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def _take(self, character: str, message: str = "") -> None:
        if self._next() != character:
            message = message or f"expected {character!r}"
            raise json.JSONDecodeError(message, self._text, self._at)
        self._at += 1

    def _more(self) -> bool:
        """Read on, as much as there is already or more; return whether there was anything."""
        rest = self._text[self._at :]
        more = self._file.read(max(_PART, len(rest)))
        self._text, self._at = rest + more, 0
        return bool(more)


def mapping_at(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return what stands under a name of JSON, or nothing if that is no object."""
    value = content.get(name)
    return value if isinstance(value, Mapping) else {}
