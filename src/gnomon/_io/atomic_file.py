"""Atomic writes of files, one or several together: complete, or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file atomically: to a temporary file, flushed to the disk, then renamed.

    A process that dies meanwhile leaves nothing but a hidden file whose name ends in ``.partial``.

    Raises
    ------
    OSError
        As the system says, of this path; nothing is written then.
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
    """Write several files into a folder, which may be new: all of them, or on an error none.

    Parameters
    ----------
    folder : Path
    files : mapping from str to bytes
        What to write, by names in the folder, such as ``figures/curves.svg``.

    Raises
    ------
    OSError
        As the system says, of the folder; or of a file in whose place there is a folder.
    """
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


def try_folder(folder: Path, n_bytes: int = 100_000) -> None:
    """See that a folder, which may be new, can be written to, and has room; leave it as it is.

    Raises
    ------
    OSError
        As the system says, of the folder.
    """
    new = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        with _named(folder):
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=folder, prefix=".", suffix=".partial") as file:
                file.write(bytes(n_bytes))
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
    """Let an error tell of the path that was asked for: nobody knows the hidden one."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None
