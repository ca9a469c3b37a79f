"""Reading of text and TOML files, with one-line errors that name the file.

What a user has written into a TOML file, before anything is known of its fields.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from gnomon.errors import GnomonError, LeaderboardError

__all__ = ["read_text", "read_toml"]


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


def read_toml(path: Path) -> dict[str, Any]:
    """Return the fields of a TOML file.

    Raises
    ------
    LeaderboardError
        The file cannot be read, or is not TOML: one line that begins with its name.
    """
    text = read_text(path, error=LeaderboardError)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LeaderboardError(f"{path}: not a TOML file: {error}") from None
