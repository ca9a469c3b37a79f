"""Streams of JSON: the members of a large object, and the elements of its arrays, one by one.

A log of an evaluation holds all its samples in one array, which may be larger than the memory. The
bare word ``NaN``, which such logs may hold, is read as Python's own parser reads it.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from gnomon.errors import ScoreDataError

#: Number of bytes read first; doubled while a value is incomplete.
_CHUNK = 1 << 20
_LARGEST_CHUNK = 1 << 26
_SPACE = re.compile(r"[ \t\r\n]*")
#: What follows a number that is not read to its end; also nothing.
_GOES_ON = (*".eE", "")
_DECODER = json.JSONDecoder()


def object_members(
    stream: IO[bytes], name: str, elements_of: str | None = None
) -> Iterator[tuple[str, Any]]:
    r"""Yield key and value of each member of the object in a stream.

    Parameters
    ----------
    stream : binary file
        UTF-8 text.
    name : str
        What it is called in a message.
    elements_of : str, optional
        A member whose value, if it is an array, is not yielded whole: each of its elements is.

    Raises
    ------
    ScoreDataError
        It is no JSON object, or ends too early.

    Examples
    --------
    >>> import io
    >>> text = io.BytesIO(b'{"model": "a", "samples": [{"id": 1}, {"id": 2}]}')
    >>> list(object_members(text, "a.json", elements_of="samples"))
    [('model', 'a'), ('samples', {'id': 1}), ('samples', {'id': 2})]
    """
    text = _Text(stream, name)
    text.expect("{")
    while text.goes_on("}"):
        key = text.value()
        text.expect(":")
        if key == elements_of and text.peek() == "[":
            for element in text.elements():
                yield key, element
        else:
            yield key, text.value()


def array_elements(stream: IO[bytes], name: str) -> Iterator[Any]:
    """Yield the elements of the array in a stream, one by one.

    Raises
    ------
    ScoreDataError
        It is no JSON array, or ends too early.
    """
    yield from _Text(stream, name).elements()


class _Text:
    """A text that is read piece by piece, of which only what is not parsed yet is kept."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream = stream
        self._name = name
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._text = ""
        self._at = 0
        self._is_first = True

    def elements(self) -> Iterator[Any]:
        """Yield the elements of the array that comes next."""
        self.expect("[")
        while self.goes_on("]"):
            yield self.value()

    def goes_on(self, end: str) -> bool:
        """Return whether another member or element comes, and pass over what stands before it."""
        found = self.peek()
        is_first, self._is_first = self._is_first, False
        if found == end:
            self._at += 1
            return False
        if not is_first:
            self.expect(",")
        return True

    def expect(self, character: str) -> None:
        """Pass over a character, which must come next."""
        found = self.peek()
        if found != character:
            shown = repr(found) if found else "the end of the file"
            raise ScoreDataError(f"{self._name}: expected JSON with {character!r}; found {shown}")
        self._at += 1
        self._is_first = character in "{["

    def peek(self) -> str:
        """Return the next character that is no space; nothing at the end."""
        while True:
            match = _SPACE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text) or not self._read(_CHUNK):
                return self._text[self._at : self._at + 1]

    def value(self) -> Any:
        """Return the value that comes next."""
        self.peek()
        chunk = _CHUNK
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                if not self._read(chunk):
                    raise self._error(error) from None
            else:
                # A number may go on: of 1.5e3 a piece may end anywhere.
                if self._text[end : end + 1] not in _GOES_ON or not self._read(chunk):
                    self._at = end
                    return value
            chunk = min(2 * chunk, _LARGEST_CHUNK)

    def _read(self, size: int) -> bool:
        """Read on, and drop what is parsed; return whether there was anything."""
        data = self._stream.read(size)
        try:
            more = self._decode(data, final=not data)
        except UnicodeDecodeError as error:
            raise self._error(error) from None
        self._text = self._text[self._at :] + more
        self._at = 0
        return bool(data)

    def _error(self, error: Exception) -> ScoreDataError:
        reason = str(error)
        if isinstance(error, json.JSONDecodeError):
            is_cut = error.pos >= len(self._text) - 1 or error.msg.startswith("Unterminated")
            reason = "it is cut off" if is_cut else error.msg
        return ScoreDataError(f"{self._name}: expected JSON; {reason}")


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the object of each line of a file, empty lines left out.

    Raises
    ------
    ScoreDataError
        The file cannot be read, or a line holds no JSON object; the message names it.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield _object(line, f"{path}, line {number}")
    except OSError as error:
        raise ScoreDataError(f"{path}: cannot read this file: {error.strerror}") from None


def _object(line: bytes, name: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
        if isinstance(found, str):  # some loggers write each object as a text
            found = json.loads(found)
    except (ValueError, RecursionError) as error:
        raise ScoreDataError(f"{name}: expected JSON; {error}") from None
    if not isinstance(found, dict):
        raise ScoreDataError(f"{name}: expected a JSON object, found {type(found).__name__}")
    return found
