"""Reading of text and TOML files, with one-line errors that name the file."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from gnomon.errors import GnomonError, LeaderboardError, RuleSyntaxError

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


def read_toml(path: str | Path, make: Callable[[dict[str, Any]], Made]) -> Made:
    """Return what a function makes of the fields of a TOML file.

    Raises
    ------
    LeaderboardError
        The file cannot be read, or is not TOML, or the function raised a GnomonError: one line
        that begins with the name of the file.
    RuleSyntaxError
        From the function, if it names a file of its own.
    """
    text = read_text(Path(path), error=LeaderboardError)
    try:
        return make(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise LeaderboardError(f"{path}: not a TOML file: {error}") from None
    except GnomonError as error:
        if isinstance(error, RuleSyntaxError) and error.file:
            raise
        raise LeaderboardError(f"{path}: {error}") from None
