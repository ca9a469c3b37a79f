"""What a user has written into a TOML file, before anything is known of its fields."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from gnomon._io.text_file import read_text
from gnomon.errors import LeaderboardError

__all__ = ["read_toml"]


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
