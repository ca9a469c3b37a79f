"""Run the benchmarks: ``python -m benchmarks [NAME ...]``, each a file of this folder.

The table is printed, and kept in benchmarks/README.md when all of them ran (``--keep``).
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys
from pathlib import Path

from benchmarks.record import Measurement

HERE = Path(__file__).parent
NAMES = sorted(
    p.stem for p in HERE.glob("*.py") if p.stem not in ("__init__", "__main__", "record")
)


def table(measurements: list[Measurement]) -> str:
    """Lay the measurements out as a table in Markdown."""
    rows = ["| what | value | unit | target | reached | note |", "|---|---:|---|---:|---|---|"]
    for m in measurements:
        sign = "≥" if m.higher_is_better else "≤"
        target = "" if m.target is None else f"{sign} {m.target:g}"
        reached = {None: "", True: "yes", False: "**no**"}[m.reached]
        rows.append(f"| {m.name} | {m.value:.3g} | {m.unit} | {target} | {reached} | {m.note} |")
    return "\n".join(rows)


def main() -> int:
    """Measure what was asked for, print it, keep it if that was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], metavar="NAME", default=[])
    parser.add_argument("--keep", action="store_true", help="write benchmarks/README.md")
    options = parser.parse_args()
    sections = []
    for name in options.names or NAMES:
        print(f"benchmarks: {name}", file=sys.stderr, flush=True)
        module = importlib.import_module(f"benchmarks.{name}")
        summary = (module.__doc__ or name).splitlines()[0]
        sections.append(f"## {name}\n\n{summary}\n\n{table(list(module.measure()))}\n")
        print(sections[-1], flush=True)
    if options.keep:
        load = os.getloadavg()[0]
        head = (
            "# Benchmarks\n\nMade by `make bench`. One machine, two shared cores "
            f"({platform.machine()}, Python {platform.python_version()}, load {load:.1f} at the "
            "end): ratios hold better than absolute figures.\n\n"
        )
        (HERE / "README.md").write_text(head + "\n".join(sections), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
