"""Archives of evaluation logs: ZIP files whose members may be packed with Zstandard."""

from __future__ import annotations

import io
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any, cast

from gnomon.errors import GnomonError, ScoreDataError
from gnomon.scores.readers.json_stream import array_elements, object_members

#: The method of ZIP that Python reads from 3.14 on.
_ZSTANDARD = 93
#: A local header: its signature, and where the lengths of name and extra field stand.
_HEADER = struct.Struct("<4s22xHH")


class LogArchive:
    """A ZIP file of JSON members, to be used in a ``with`` statement.

    Parameters
    ----------
    path : path
        The file.

    Raises
    ------
    ScoreDataError
        It is no ZIP file, or its end is missing, where the list of members stands.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except (OSError, zipfile.BadZipFile) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is none, or cut off"
            raise ScoreDataError(f"{path}: expected a log in a ZIP file; {reason}") from None
        self._infos = {info.filename: info for info in self._zip.infolist()}

    def __enter__(self) -> LogArchive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._zip.close()

    def __contains__(self, name: str) -> bool:
        """Return whether there is such a member."""
        return name in self._infos

    def names(self, folder: str) -> list[str]:
        """Return the names of the members of a folder, in the order in which they were written."""
        return [name for name in self._infos if name.startswith(f"{folder}/")]

    def value(self, name: str) -> dict[str, Any]:
        """Return the JSON object that a member holds."""
        with self._opened(name) as stream:
            return dict(object_members(stream, self._called(name)))

    def elements(self, name: str) -> Iterator[Any]:
        """Yield the elements of the JSON array that a member holds."""
        with self._opened(name) as stream:
            yield from array_elements(stream, self._called(name))

    @contextmanager
    def _opened(self, name: str) -> Iterator[IO[bytes]]:
        """Return the unpacked content of a member; an error names it."""
        with self._open(name) as stream:
            try:
                yield stream
            except _damages() as error:
                message = f"{self._called(name)}: the packed data are damaged ({error})"
                raise ScoreDataError(message) from None

    def _called(self, name: str) -> str:
        return f"{self.path}, {name}"

    def _open(self, name: str) -> IO[bytes]:
        """Return the unpacked content of a member."""
        info = self._infos[name]
        try:
            return self._zip.open(info)
        except NotImplementedError:
            if info.compress_type != _ZSTANDARD:
                found = f"method {info.compress_type}"
                raise ScoreDataError(
                    f"{self._called(name)}: expected deflate or Zstandard, found {found}"
                ) from None
        return self._unpacked(info)

    def _unpacked(self, info: zipfile.ZipInfo) -> IO[bytes]:
        try:
            import zstandard
        except ImportError:
            raise GnomonError(
                f"{self.path}: this log is packed with Zstandard, which needs a package: "
                "pip install 'gnomon[evals]'"
            ) from None
        with self.path.open("rb") as file:
            file.seek(info.header_offset)
            signature, *lengths = _HEADER.unpack(file.read(_HEADER.size))
            if signature != b"PK\x03\x04":
                raise ScoreDataError(f"{self._called(info.filename)}: expected a member of a ZIP")
            file.seek(sum(lengths), io.SEEK_CUR)
            packed = file.read(info.compress_size)
        unpacker = zstandard.ZstdDecompressor()
        return cast("IO[bytes]", unpacker.stream_reader(packed, read_across_frames=True))


def _damages() -> tuple[type[Exception], ...]:
    """Return the errors of damaged members."""
    zstandard = sys.modules.get("zstandard")
    return (zipfile.BadZipFile, zlib.error, EOFError, *([zstandard.ZstdError] if zstandard else []))
