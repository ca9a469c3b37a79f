"""What a long search tells while it works."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

__all__ = ["Progress"]

#: Called with how much is done, and of how much; less done than before begins another search.
Progress: TypeAlias = Callable[[int, int], object]
