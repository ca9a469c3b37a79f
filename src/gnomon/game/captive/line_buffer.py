"""From chunks of bytes to lines, in bounded memory."""

from __future__ import annotations

__all__ = ["LineBuffer", "LineTooLongError"]


class LineTooLongError(Exception):
    """A line with more bytes than the limit; it is dropped to its end."""


class LineBuffer:
    r"""Collects bytes, and hands out the lines that are complete.

    Parameters
    ----------
    limit : int
        Most bytes of a line.

    Examples
    --------
    >>> lines = LineBuffer(limit=8)
    >>> lines.feed(b"one\ntw")
    >>> lines.take(), lines.take()
    ('one', None)
    >>> lines.feed(b"o\r\n0123")
    >>> lines.take(), lines.take(), lines.rest()
    ('two', None, '0123')
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bytes = bytearray()
        self._start = 0  # of the first line that has not been taken
        self._searched = 0  # up to where there is no line break
        self._is_dropping = False

    def feed(self, chunk: bytes) -> None:
        """Add bytes."""
        if self._start:
            del self._bytes[: self._start]
            self._searched -= self._start
            self._start = 0
        self._bytes += chunk

    def take(self) -> str | None:
        """Return the next line, without its end; None if it is not complete yet.

        Raises
        ------
        LineTooLongError
            Once for each line that exceeds the limit, as soon as it does.
        """
        while True:
            end = self._bytes.find(b"\n", self._searched)
            if end < 0:
                self._searched = len(self._bytes)
                self._check_length(len(self._bytes))
                return None
            start, self._start = self._start, end + 1
            self._searched = self._start
            if self._is_dropping:
                self._is_dropping = False
            elif end - start > self._limit:
                raise LineTooLongError
            else:
                return self._text(start, end)

    def rest(self) -> str:
        """Return what has come of a line that will not be completed."""
        return "" if self._is_dropping else self._text(self._start, len(self._bytes))

    def clear(self) -> None:
        """Forget all that has not been taken."""
        self._bytes.clear()
        self._start = self._searched = 0
        self._is_dropping = False

    def _text(self, start: int, end: int) -> str:
        return self._bytes[start:end].decode("utf-8", errors="replace").removesuffix("\r")

    def _check_length(self, end: int) -> None:
        """Drop what has come of a line that is too long already."""
        if end - self._start <= self._limit and not self._is_dropping:
            return
        was_dropping = self._is_dropping
        self.clear()
        self._is_dropping = True
        if not was_dropping:
            raise LineTooLongError
