"""A JSON file that holds an object, or an error that says what it holds."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from gnomon.errors import ScoreDataError

__all__ = ["json_object"]


def json_object(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the object that a JSON file holds."""
    try:
        content = json.loads(Path(path).read_text("utf-8"))
    except FileNotFoundError:
        raise ScoreDataError(f"{path}: expected a file of scores; there is none") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ScoreDataError(f"{path}: expected JSON; {error}") from None
    if not isinstance(content, dict):
        raise ScoreDataError(f"{path}: expected a JSON object, found {type(content).__name__}")
    return content
