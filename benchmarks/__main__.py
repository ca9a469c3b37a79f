"""Run the benchmarks: ``python -m benchmarks [NAME ...]``, each a file of this folder.

The tables are printed; with ``--keep`` each takes the place of the one before it in
benchmarks/README.md, where a table says under which load it was made, and its ratios are added to
benchmarks/ratios.jsonl. A ratio that is much worse than before is told, and the exit status is 1.
``--history`` prints the ratios of all commits.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import os
import platform
import sys
from pathlib import Path

import gnomon
from benchmarks import history
from benchmarks.record import Measurement

HERE = Path(__file__).parent
SHARED = ("__init__", "__main__", "history", "record")
NAMES = sorted(p.stem for p in HERE.glob("*.py") if p.stem not in SHARED)


HEAD = """# Benchmarks

Made by `make bench`, on shared cores: ratios hold better than absolute figures.
"""


def table(measurements: list[Measurement]) -> str:
    """Lay the measurements out as a table in Markdown."""
    rows = ["| what | value | unit | target | reached | note |", "|---|---:|---|---:|---|---|"]
    for m in measurements:
        sign = "≥" if m.higher_is_better else "≤"
        target = "" if m.target is None else f"{sign} {m.target:g}"
        reached = {None: "", True: "yes", False: "**no**"}[m.reached]
        rows.append(f"| {m.name} | {m.value:.3g} | {m.unit} | {target} | {reached} | {m.note} |")
    return "\n".join(rows)


def measured(name: str) -> tuple[str, list[Measurement]]:
    """Run one benchmark; return its section, which says how it was made, and the figures."""
    module = importlib.import_module(f"benchmarks.{name}")
    summary = (module.__doc__ or name).splitlines()[0]
    measurements = list(module.measure())
    rows = table(measurements)
    conditions = (
        f"{datetime.date.today()}, gnomon {gnomon.__version__}, Python "
        f"{platform.python_version()}, {os.cpu_count()} cores of {platform.machine()}, "
        f"load {os.getloadavg()[0]:.1f} at the end."
    )
    about = getattr(module, "about", str)()
    parts = [f"## {name}", summary, about, rows, conditions]
    return "\n\n".join(filter(None, parts)) + "\n", measurements


def keep(name: str, section: str) -> None:
    """Put a section into the README, in place of the one of that name."""
    path = HERE / "README.md"
    _, *old = path.read_text(encoding="utf-8").split("\n## ") if path.exists() else [""]
    kept = {text.partition("\n")[0]: f"## {text.rstrip()}\n" for text in old}
    kept[name] = section
    # Those that no benchmark makes, too: somebody wrote them.
    sections = [kept[known] for known in sorted(kept)]
    path.write_text("\n".join([HEAD, *sections]), encoding="utf-8")


def main() -> int:
    """Measure what was asked for, print it, keep it if that was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], metavar="NAME", default=[])
    parser.add_argument("--keep", action="store_true", help="keep tables in README.md")
    parser.add_argument("--history", action="store_true", help="print the ratios of all commits")
    options = parser.parse_args()
    # As the command line does; threads of the linear algebra would be counted as threads of ours.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    before, worse = history.entries(), []
    if options.history:
        print(history.page(before))
        return 0
    for name in options.names or NAMES:
        print(f"benchmarks: {name}", file=sys.stderr, flush=True)
        section, measurements = measured(name)
        print(section, flush=True)
        worse += history.regressions(before, name, measurements)
        if options.keep:
            keep(name, section)
            history.keep(history.entry(name, measurements, str(datetime.date.today())))
    for line in worse:
        print(f"benchmarks: worse than before: {line}", file=sys.stderr)
    return 1 if worse else 0


if __name__ == "__main__":
    raise SystemExit(main())
