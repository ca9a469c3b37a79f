"""How exact the compiled loops are: what counts as collinear, and what the compiler may do."""

from __future__ import annotations

from typing import Any

__all__ = ["KERNEL_OPTIONS", "TOLERANCE"]

#: Columns are scaled to length one; a task whose residual is shorter is collinear, and left out.
TOLERANCE = 1e-11
#: What a division may do (no exception), and what a sum may do (any order, fused).
KERNEL_OPTIONS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},
}
