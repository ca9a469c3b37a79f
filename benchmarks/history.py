"""Record of the ratios over commits, in ratios.jsonl, and which of them have become worse.

Seconds of one day mean nothing on another. A ratio to a peer, an engine or an earlier form, taken
in turns in the same run, does: those, with the unit ``x``, are kept.
"""

from __future__ import annotations

import json
import statistics
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.record import Measurement

PATH = Path(__file__).parent / "ratios.jsonl"
#: A ratio that is worse than the median of as many before it ...
N_BEFORE = 5
#: ... by more than this share is a regression; on shared cores ratios move by a tenth.
MOST_WORSE = 0.25
Entry = Mapping[str, Any]


def entries(path: Path = PATH) -> list[Entry]:
    """Return what was kept, oldest first: benchmark, commit, date, and ratios by name."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def entry(benchmark: str, measurements: Sequence[Measurement], date: str) -> Entry:
    """Return a benchmark's ratios as they are kept, under the commit that is checked out."""
    commit = _git("rev-parse", "--short", "HEAD").stdout.strip()
    if _git("diff", "--quiet", "HEAD", "--", "../src").returncode:
        commit += " and changes"
    ratios = {m.name: float(f"{m.value:.3g}") for m in measurements if m.unit == "x"}
    return {"benchmark": benchmark, "commit": commit, "date": date, "ratios": ratios}


def _git(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *words], cwd=PATH.parent, capture_output=True, text=True)


def keep(one: Entry, path: Path = PATH) -> None:
    """Add an entry to the record, if it has any ratio."""
    if one["ratios"]:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(one) + "\n")


def regressions(
    before: Sequence[Entry], benchmark: str, measurements: Sequence[Measurement]
) -> Iterator[str]:
    """Yield a line for each ratio that is much worse than the median of those before it."""
    for m in measurements:
        values = [
            one["ratios"][m.name]
            for one in before
            if one["benchmark"] == benchmark and m.name in one["ratios"]
        ][-N_BEFORE:]
        if m.unit != "x" or not values:
            continue
        usual = statistics.median(values)
        worse = usual / m.value if m.higher_is_better else m.value / usual
        if worse > 1 + MOST_WORSE:
            yield f"{benchmark}: {m.name}: {m.value:.3g}, {usual:.3g} before: {worse:.2f} x worse"


def page(kept: Sequence[Entry]) -> str:
    """Lay the record out in Markdown: a line for each ratio, its values from the oldest on."""
    lines: dict[tuple[str, str], list[str]] = {}
    for one in kept:
        for name, value in one["ratios"].items():
            values = lines.setdefault((one["benchmark"], name), [])
            values.append(f"{value:g} ({one['commit']})")
    rows = [f"| {where} | {name} | {', '.join(all_)} |" for (where, name), all_ in lines.items()]
    return "\n".join(["| benchmark | ratio | value (commit) |", "|---|---|---|", *rows])
