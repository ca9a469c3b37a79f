"""Draw the figures of docs/gallery.md: ``python docs/make_gallery.py [FOLDER]``.

They come from two small runs, with fixed seeds, through the same code as any report, audit or
``--figure``. Drawn again, they differ only where the code or the processor does.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gnomon.experiments.catalogue import load_experiment
from gnomon.experiments.runner import run
from gnomon.experiments.scoring import score_table
from gnomon.ranking.audit import audit
from gnomon.report.audit import audit_report
from gnomon.report.figures import Figure
from gnomon.report.page import build_report
from gnomon.report.statistics import (
    comparison_figure,
    curve_figure,
    power_figure,
    profile_figure,
    subsample_figure,
)
from gnomon.scores.table import ScoreTable
from gnomon.stats.comparison import compare, compare_all
from gnomon.stats.curves import aggregate_curves
from gnomon.stats.planning import power_curve, subsample_table
from gnomon.stats.profiles import performance_profiles

#: Name of the picture -> the figure of the demo's report that it is.
OF_REPORT = {
    "board": "board",
    "boxes": "boxes-2-linear-dqn",
    "intervals": "summaries",
    "median-curves": "median-curves-2-linear-dqn",
    "tests": "tests-2-linear-dqn",
    "trials": "trials-2-linear-dqn-1-color-match",
}
#: Likewise, of the audit.
OF_AUDIT = {"ranks": "rank-intervals", "tournament": "tournament"}


def make_gallery(folder: Path, *, trials: int = 12, episodes: int = 100) -> list[Path]:
    """Write the pictures into a folder, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = []
    with tempfile.TemporaryDirectory() as played:
        for name, text in (*report_pictures(played, trials, episodes), *suite_pictures(played)):
            pictures.append(folder / f"{name}.svg")
            pictures[-1].write_text(text, encoding="utf-8")
    return pictures


def report_pictures(played: str, trials: int, episodes: int) -> Iterator[tuple[str, str]]:
    """Yield the figures of a report on the demo's experiment, with fewer trials."""
    folder = Path(played, "demo")
    run(load_experiment("demo", trials=trials, episodes=episodes), folder)
    figures = build_report(folder).parent / "figures"
    for name, figure in OF_REPORT.items():
        yield name, (figures / f"{figure}.svg").read_text(encoding="utf-8")


def suite_pictures(played: str) -> Iterator[tuple[str, str]]:
    """Yield the figures of scores on a suite: three learners, fifteen rules, ten trials."""
    learners = ["frugal", "tabular_q", "reinforce"]
    config = load_experiment("gohr-core", learners=learners, trials=10, episodes=60)
    run_folder = run(config, Path(played, "suite")).folder
    table = score_table(run_folder, "tce")
    for name, figure in statistics_figures(table, score_table(run_folder, "cumulated_errors")):
        yield name, figure.svg
    found = audit(table, n_resamples=400, rng=np.random.default_rng(0))
    figures = audit_report(found, "suite", seed=0).save(Path(played, "audit")).parent / "figures"
    for name, file in OF_AUDIT.items():
        yield name, (figures / f"{file}.svg").read_text(encoding="utf-8")


def statistics_figures(table: ScoreTable, curves: ScoreTable) -> Iterator[tuple[str, Figure]]:
    """Yield the figures that ``compare``, ``profile``, ``curves`` and ``plan`` draw."""
    rng = np.random.default_rng(0)
    pair = ("tabular_q", "reinforce")
    scale = "errors"
    metrics = ["mean", "iqm", "median", "probability_of_improvement"]
    yield "comparison", comparison_figure(compare(table, *pair, metrics, rng=rng), scale)
    pairs = compare_all(table, "probability_of_improvement", rng=rng)
    yield "improvement", comparison_figure(pairs, scale)
    profiles = performance_profiles(table, spacing="log", rng=rng)
    yield "profiles", profile_figure(profiles, scale, higher_is_better=False)
    yield "efficiency", curve_figure(aggregate_curves(curves, rng=rng), "errors so far", "board")
    pilot = pilot_scores()
    points = power_curve(pilot, "a", "b", "iqm", n_simulations=200, rng=rng)
    yield "power", power_figure(points, 0.8)
    yield "fewer-runs", subsample_figure(subsample_table(pilot, "iqm", rng=rng), "score")


def pilot_scores() -> ScoreTable:
    """Return the scores of docs/statistics.md, of ten runs: every true score of b is 0.1 higher."""
    rng = np.random.default_rng(5)
    true = np.linspace(0.2, 1.6, 10)
    means = {"a": true, "b": true + 0.1}
    return ScoreTable.from_arrays({name: rng.normal(m, 0.2, (10, 10)) for name, m in means.items()})


if __name__ == "__main__":
    here = Path(__file__).parent
    for path in make_gallery(Path(sys.argv[1]) if sys.argv[1:] else here / "images" / "gallery"):
        print(path.name, path.stat().st_size)
