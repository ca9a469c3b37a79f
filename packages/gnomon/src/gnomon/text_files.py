"""Files: text that is read with clear errors, files written whole or not at all, safe CSV."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import re
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from gnomon.errors import GnomonError

Made = TypeVar("Made")


def read_text(
    path: Path,
    *,
    noun: str = "file",
    error: type[GnomonError] = GnomonError,
    most_bytes: int | None = None,
) -> str:
    r"""Return the text of a file, line ends and byte-order mark as they are.

    Parameters
    ----------
    path : Path
    noun : str, optional
        What the file should be, for messages.
    error : type, optional
        What is raised.
    most_bytes : int, optional
        A longer file is refused, and of one without an end no more than this is read.

    Raises
    ------
    GnomonError, or `error`
        It cannot be read, is too long, or is not UTF-8; the message begins with its name.

    Examples
    --------
    >>> read_text(Path("no-such-file"), noun="rule file")
    Traceback (most recent call last):
    gnomon.errors.GnomonError: no-such-file: cannot read this rule file: No such file or directory
    """
    try:
        with path.open("rb") as file:
            data = file.read(-1 if most_bytes is None else most_bytes + 1)
        if most_bytes is not None and len(data) > most_bytes:
            raise error(f"{path}: expected a {noun} of at most {most_bytes:,} bytes")
        return data.decode("utf-8")
    except OSError as failure:
        raise error(f"{path}: cannot read this {noun}: {failure.strerror}") from None
    except UnicodeDecodeError as failure:
        found = f"byte 0x{failure.object[failure.start]:02x} at offset {failure.start}"
        raise error(f"{path}: expected UTF-8 text, found {found}") from None


def read_toml(
    path: str | Path,
    make: Callable[[dict[str, Any]], Made],
    *,
    error: type[GnomonError] = GnomonError,
) -> Made:
    """Return what a function makes of the fields of a TOML file."""
    text = read_text(Path(path), error=error)
    try:
        return make(parse_toml(text))
    except GnomonError as failure:
        if getattr(failure, "file", None):
            raise
        raise error(f"{path}: {failure}") from None


#: A key of more than 100 parts: the parser's time grows with the square of their number.
_LONG_KEY = re.compile(r"""^[ \t[]*[\w"'-]+(?:[ \t]*\.[ \t]*[\w"'-]+){100}""", re.MULTILINE)


def parse_toml(text: str) -> dict[str, Any]:
    """Return the fields of a TOML text."""
    try:
        if found := _LONG_KEY.search(text):
            line = text.count("\n", 0, found.start()) + 1
            raise GnomonError(
                f"not a TOML file: expected keys of at most 100 parts, found more in line {line}"
            )
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as failure:
        raise GnomonError(f"not a TOML file: {failure}") from None
    except RecursionError:
        raise GnomonError("not a TOML file: values are nested too deeply") from None


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file atomically: to a temporary file, flushed to the disk, then renamed.

    A process that dies meanwhile leaves nothing but a hidden file whose name ends in ``.partial``.
    """
    with _named(path):
        handle, temporary = tempfile.mkstemp(
            dir=path.parent, prefix=f".{path.name[:100]}.", suffix=".partial"
        )
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(0o644)
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def write_together(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write several files into a folder, which may be new: all of them, or on an error none."""
    for name in files:
        if (folder / name).is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(folder / name))
    new = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        with _named(folder):
            folder.mkdir(parents=True, exist_ok=True)
            _write_beside_and_move(folder, files)
    except BaseException:
        for each in new:
            with suppress(OSError):
                each.rmdir()
        raise


def try_folder(folder: Path) -> None:
    """Check that a folder, which may be new, can be written to and has room; change nothing."""
    new = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        with _named(folder):
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=folder, prefix=".", suffix=".partial") as file:
                file.write(bytes(100_000))
                file.flush()
    finally:
        for each in new:
            with suppress(OSError):
                each.rmdir()


def _write_beside_and_move(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write all files to a hidden folder, and only then move each to its place."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".", suffix=".partial") as hidden:
        for name, data in files.items():
            path = Path(hidden, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        for name in files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        for name in files:
            os.replace(Path(hidden, name), folder / name)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name the requested path in an error, not the temporary one."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


#: With these a spreadsheet takes a cell for a formula.
_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def safe_cell(value: Any) -> Any:
    """Return a value as a cell: text that looks like a formula gets an apostrophe before it."""
    if value is None:
        return ""
    if isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return "'" + text if text.lstrip(" ").startswith(_STARTS) else text


def csv_text(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Return records as CSV, with safe cells."""
    out = io.StringIO()
    # All text in quotation marks: a lone carriage return would end a line.
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([safe_cell(row.get(name)) for name in columns])
    return out.getvalue()
