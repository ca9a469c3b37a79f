"""Agarwal et al. 2021 (Atari 100k): the medians and means that the authors' notebook prints."""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Iterator

import gnomon as gn
from gnomon.errors import DegenerateScoresWarning
from gnomon.scores import normalize
from reproduction.comparison import Comparison, data_file, show

TITLE = "Agarwal et al. 2021: deep RL at the edge of the statistical precipice (arXiv 2108.13264)"
_RUNS = "github.com/evgenii-nikishin/rl_with_resets, discrete_control (commit 502ec52)"
_BASELINES = "github.com/google-research/rliable, its notebook (commit 3ccd9f4)"
KNOWN = "the README's own file of runs gives ours"
#: Significant digits that are compared: the rest depends on the order of summation.
_DIGITS = 10


def comparisons() -> Iterator[Comparison]:
    """Yield each printed aggregate beside ours."""
    resets = gn.read_scores(data_file("scores/atari100k_spr_resets_curves.csv", _RUNS))
    tables = {"rliable notebook": _normalized_runs(), "primacy-bias README": resets.last_step()}
    with data_file("scores/atari100k_published.csv", _RUNS).open(newline="") as file:
        for row in csv.reader(list(file)[1:]):
            source, algorithm, n_runs, metric, printed = row
            table = tables[source].select(algorithms=[algorithm])
            value = gn.estimate(table, metric, n_resamples=100)[0].value
            if source == "rliable notebook":
                published, ours = (f"{x:.{_DIGITS}g}" for x in (float(printed), value))
            else:
                published, ours = (f"{x:.2f}" for x in (float(printed), value))
            item = f"{algorithm}, {metric} of {n_runs} runs"
            known = KNOWN if (algorithm, source) == ("SPR", "primacy-bias README") else ""
            yield Comparison(source, item, published, ours, published == ours, explained=known)


def _normalized_runs() -> gn.ScoreTable:
    """Return runs on the notebook's scale, whose random and human scores are its own."""
    with data_file("scores/atari_baselines.csv", _BASELINES).open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["random"] and row["human"]]
    references = {row["task"]: (float(row["random"]), float(row["human"])) for row in rows}
    runs = gn.read_scores(data_file("scores/atari100k_runs.csv", _RUNS))
    return normalize(runs, {task: references[task] for task in runs.tasks}, name="random-human")


if __name__ == "__main__":
    # Only values are compared: what the warnings say is of intervals.
    warnings.simplefilter("ignore", DegenerateScoresWarning)
    sys.exit(show(TITLE, comparisons()))
