"""Make docs/gnomon/peers.md: the same scores through Gnomon, rliable, SciPy, autorank and Arena-Rank.

Run ``python docs/make_peers_page.py FOLDER`` in an environment that has the peers as well; FOLDER
holds ``atari100k_runs.csv``. No test needs them.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset
from autorank import autorank
from rliable import library, metrics
from scipy import stats

import gnomon as gn
from gnomon.ranking import critical_difference

PAGE = Path(__file__).parent / "gnomon" / "peers.md"
LEVEL, RESAMPLES, SEED = 0.95, 2000, 0
MEASURES = {
    "iqm": metrics.aggregate_iqm,
    "mean": metrics.aggregate_mean,
    "median": metrics.aggregate_median,
    "optimality_gap": metrics.aggregate_optimality_gap,
}
warnings.simplefilter("ignore")


def timed(call: Callable[[], Any], repeats: int = 3) -> tuple[Any, str]:
    """Return a result and the least seconds that it took: the first call, which warms up, or less."""
    seconds = []
    for _ in range(1 + repeats):
        start = time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - start)
    least = min(seconds)
    if least >= 1:
        return result, f"{least:.1f} s"
    return result, f"{1000 * least:.0f} ms" if least >= 0.01 else f"{1000 * least:.2g} ms"


def interval(value: float, low: float, high: float, digits: int = 3) -> str:
    """Return a value with its interval, as the page prints it."""
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def said(call: Callable[[], Any]) -> str:
    """Return what a call raises, as one line, or ``no error``."""
    try:
        call()
    except Exception as error:
        return f"`{type(error).__name__}`: {str(error).splitlines()[0][:110]}"
    return "no error"


def first_runs(scores: gn.ScoreTable, n: int) -> dict[str, np.ndarray]:
    """Return for each algorithm the first n runs on all tasks, shape (n, tasks)."""
    columns = {a: [scores.runs(a, t)[:n] for t in scores.tasks] for a in scores.algorithms}
    return {a: np.stack(runs, axis=1) for a, runs in columns.items()}


def of_rliable(
    arrays: dict[str, np.ndarray], measure: Callable[..., Any], reps: int = RESAMPLES, **how: Any
) -> Any:
    """Return value, low and high of each algorithm, by rliable's percentile bootstrap."""
    values, ends = library.get_interval_estimates(
        arrays, lambda *x: np.array([measure(*x)]), reps=reps, **how
    )
    return {a: (values[a][0], *ends[a][:, 0]) for a in arrays}


def of_scipy(runs: np.ndarray, measure: Callable[..., Any], method: str) -> tuple[float, float]:
    """Return the ends of SciPy's bootstrap, each task a sample of its own."""
    found = stats.bootstrap(
        tuple(runs.T),
        lambda *tasks: measure(np.stack(tasks, axis=1)),
        vectorized=False,
        n_resamples=RESAMPLES,
        method=method,
        rng=np.random.default_rng(SEED),
    ).confidence_interval
    return found.low, found.high


def estimates(runs: dict[str, np.ndarray]) -> str:
    """Return the table of aggregates and their intervals."""
    one = {"SPR": runs["SPR"]}
    ours = gn.ScoreTable.from_arrays(one)
    rows = []
    for name, measure in MEASURES.items():
        [mine], seconds = timed(lambda name=name: gn.estimate(ours, [name]))
        theirs, rliable_s = timed(lambda m=measure: of_rliable(one, m)["SPR"], 1)
        low_high, scipy_s = timed(lambda m=measure: of_scipy(one["SPR"], m, "percentile"), 1)
        cells = [(mine.value, mine.low, mine.high), theirs, (measure(one["SPR"]), *low_high)]
        times = [seconds, rliable_s, scipy_s]
        texts = [f"{interval(*c)}, {s}" for c, s in zip(cells, times, strict=True)]
        rows.append([f"`{name}`", *texts, mine.method])
    return table(
        ["SPR, 10 runs", "Gnomon", "rliable", "SciPy `bootstrap`", "Gnomon's method"], rows
    )


def coverage(scores: gn.ScoreTable, draws: int = 200) -> str:
    """Return how often intervals of the IQM hold the value of all 100 runs, from few drawn runs."""
    population = first_runs(scores, 100)["SPR"]
    truth, rng = metrics.aggregate_iqm(population), np.random.default_rng(SEED)
    rows = []
    for n in (3, 5, 10):
        held = np.zeros(2)
        for _ in range(draws):
            at = rng.integers(100, size=(n, population.shape[1]))
            few = {"SPR": np.take_along_axis(population, at, axis=0)}
            [mine] = gn.estimate(gn.ScoreTable.from_arrays(few), ["iqm"])
            _, low, high = of_rliable(few, metrics.aggregate_iqm, reps=500)["SPR"]
            held += [mine.low <= truth <= mine.high, low <= truth <= high]
        rows.append([n, *(f"{share:.1%}" for share in held / draws)])
    return table(["runs", "Gnomon", "rliable"], rows)


def improvement(runs: dict[str, np.ndarray]) -> str:
    """Return the table of probabilities of improvement over each other algorithm."""
    ours, rows = gn.ScoreTable.from_arrays(runs), []
    for other in ("DrQ(eps)", "DrQ", "DER", "CURL"):
        pair = {other: [runs["SPR"], runs[other]]}
        [mine], seconds = timed(
            lambda b=other: gn.compare(ours, "SPR", b, ["probability_of_improvement"])
        )
        theirs, rliable_s = timed(
            lambda p=pair, b=other: of_rliable(p, metrics.probability_of_improvement)[b], 0
        )
        rows.append([other, f"{interval(mine.value, mine.low, mine.high)}, {seconds}",
                     f"{interval(*theirs)}, {rliable_s}", f"{mine.p_value:.2g}"])  # fmt: skip
    return table(["SPR better than", "Gnomon", "rliable", "p, Gnomon alone"], rows)


def profiles(runs: dict[str, np.ndarray]) -> str:
    """Return the table that compares performance profiles."""
    tau = np.linspace(0.0, 2.0, 21)
    ours = gn.ScoreTable.from_arrays(runs)
    found, seconds = timed(lambda: gn.profile(ours, tau=tau))
    theirs, rliable_s = timed(
        lambda: library.create_performance_profile(runs, tau, reps=RESAMPLES), 0
    )
    values = {p.algorithm: np.array([p.value, p.low, p.high]) for p in found}
    apart = np.zeros(2)
    for a, (value, ends) in zip(runs, ((theirs[0][a], theirs[1][a]) for a in runs), strict=True):
        apart = np.maximum(
            apart, [np.abs(values[a][0] - value).max(), np.abs(values[a][1:] - ends).max()]
        )
    rows = [
        ["seconds for 5 algorithms, 21 thresholds", seconds, rliable_s],
        ["farthest apart: the shares", f"{apart[0]:.1g}", ""],
        ["farthest apart: the ends of the 95% band", f"{apart[1]:.3f}", ""],
    ]
    return table(["", "Gnomon", "rliable"], rows)


def tests_over_tasks(runs: dict[str, np.ndarray]) -> str:
    """Return the table of mean ranks and Friedman's test."""
    means = pd.DataFrame({a: x.mean(axis=0) for a, x in runs.items()})
    ours = gn.ScoreTable.from_arrays({a: means[[a]].T.to_numpy() for a in means})
    mine, seconds = timed(lambda: critical_difference(ours))
    theirs, autorank_s = timed(lambda: autorank(means, force_mode="nonparametric"))
    friedman, scipy_s = timed(lambda: stats.friedmanchisquare(*(means[a] for a in means)))
    ranks = {one.name: one.mean_rank for one in mine}
    rows = [
        [f"mean rank of {a}", f"{ranks[a]:.4f}", f"{theirs.rankdf.meanrank[a]:.4f}", ""]
        for a in ranks
    ]
    rows += [
        ["p of Friedman's test", f"{mine.settings['friedman_p']:.4g}", f"{theirs.pvalue:.4g}",
         f"{friedman.pvalue:.4g}"],
        ["seconds", seconds, autorank_s, scipy_s],
    ]  # fmt: skip
    return table(["10 runs, their means on 26 games", "Gnomon", "autorank", "SciPy"], rows)


def elo(strengths: Any) -> Any:
    """Return ratings on Arena-Rank's scale: 400 points a factor of ten, 1000 in the middle."""
    return 1000 + 400 / np.log(10) * np.asarray(strengths)


def battles(first: np.ndarray, second: np.ndarray, won: np.ndarray) -> pd.DataFrame:
    """Return games as Arena-Rank reads them; a share of one half is a tie."""
    winner = np.select([won == 1, won == 0], ["model_a", "model_b"], "tie")
    return pd.DataFrame({"model_a": first, "model_b": second, "winner": winner})


def of_arena(games: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return rating, low and high of each competitor, by Arena-Rank's sandwich intervals."""
    data = PairDataset.from_pandas(games)
    found = BradleyTerry(n_competitors=data.n_competitors).compute_ratings_and_cis(data)
    ends = zip(*(found[k] for k in ("ratings", "rating_lower", "rating_upper")), strict=True)
    return {a: np.array(one) for a, one in zip(found["competitors"], ends, strict=True)}


def votes(n: int = 20_000, k: int = 10) -> str:
    """Return the table of ratings from made-up votes whose truth is known."""
    rng = np.random.default_rng(SEED)
    truth = np.linspace(-1.5, 1.5, k)
    i = rng.integers(k, size=n)
    j = (i + rng.integers(1, k, size=n)) % k
    won = (rng.random(n) < 1 / (1 + np.exp(truth[j] - truth[i]))).astype(float)
    names = np.array([f"m{x}" for x in range(k)])
    games = battles(names[i], names[j], won)
    theirs, arena_s = timed(lambda: of_arena(games), 1)
    ours = gn.read_scores(games)
    mine, seconds = timed(lambda: {one.algorithm: one for one in gn.estimate(ours)})
    rows = [
        [f"`{names[x]}`, true {elo(truth[x]):.0f}",
         interval(mine[names[x]].value, mine[names[x]].low, mine[names[x]].high, 1),
         interval(*theirs[names[x]], 1)]
        for x in (0, k // 2, k - 1)
    ]  # fmt: skip
    rows.append(["seconds", seconds, arena_s])
    return table([f"{n:,} independent votes", "Gnomon, `estimate`", "Arena-Rank"], rows)


def faults(runs: dict[str, np.ndarray]) -> str:
    """Return the table of what happens to gaps, ragged tables and seeds."""
    holes = runs["SPR"].copy()
    holes[3, 5] = np.nan
    means = pd.DataFrame({a: x.mean(axis=0) for a, x in runs.items()})
    means.iloc[5, 0] = np.nan

    def twice() -> str:
        seeded = [
            of_rliable({"SPR": runs["SPR"]}, metrics.aggregate_iqm,
                       random_state=np.random.RandomState(SEED))["SPR"][1]
            for _ in range(2)
        ]  # fmt: skip
        return "the same" if seeded[0] == seeded[1] else f"{seeded[0]:.4f}, then {seeded[1]:.4f}"

    ours = gn.ScoreTable.from_arrays({"SPR": holes})
    again = [gn.estimate(ours, ["iqm"], method="percentile")[0].low for _ in range(2)]
    [mine] = gn.estimate(ours, ["iqm"])
    lost = of_rliable({"SPR": holes}, metrics.aggregate_iqm)["SPR"]
    ragged = {"SPR": [runs["SPR"][:, 0], runs["SPR"][:5, 1]]}
    ranked = autorank(means, force_mode="nonparametric")
    rows = [
        ["one run of 260 is missing", f"Gnomon: {interval(mine.value, mine.low, mine.high)}, from "
         "the other 259", f"rliable: {interval(*lost)}"],
        ["one mean of 130 is missing", "Gnomon's `critical_difference` uses the 25 games that all "
         "share", f"autorank: p = {ranked.pvalue:.3g}, mean ranks {ranked.rankdf.meanrank.min():.2f}"
         f" to {ranked.rankdf.meanrank.max():.2f}, and no error"],
        ["a task with 10 runs, one with 5", "Gnomon weighs tasks, not runs",
         f"rliable: {said(lambda: np.stack(ragged['SPR']))} before it is called"],
        ["the same seed twice", f"Gnomon: {again[0]:.4f}, then {again[1]:.4f}",
         f"rliable with `random_state`: {twice()}"],
    ]  # fmt: skip
    return table(["", "Gnomon", "a peer"], rows)


def main(folder: Path) -> None:
    """Compute all tables and write the page."""
    scores = gn.normalize(gn.read_scores(folder / "atari100k_runs.csv"), "random-human")
    runs = first_runs(scores, 10)
    packages = ("gnomon", "rliable", "scipy", "autorank", "arena-rank", "numpy")
    parts = {
        "VERSIONS": ", ".join(f"{p} {version(p)}" for p in packages),
        "DATE": f"{date.today():%-d %B %Y}",
        "CORES": str(os.cpu_count()),
        "RESAMPLES": f"{RESAMPLES:,}",
        "PANDAS": version("pandas"),
        "ESTIMATES": estimates(runs),
        "IMPROVEMENT": improvement(runs),
        "PROFILES": profiles(runs),
        "TESTS": tests_over_tasks(runs),
        "VOTES": votes(),
        "FAULTS": faults(runs),
        "COVERAGE": coverage(scores),
    }
    text = TEXT
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    PAGE.write_text(text, encoding="utf-8")


TEXT = """# Gnomon beside its peers

Four packages answer some of the questions that Gnomon answers. This page compares their results on the same scores: values, intervals and
times, the reasons for differences, and where a peer is the better choice. `python docs/make_peers_page.py` makes it.

* Run on @DATE@ with @VERSIONS@, one process on a shared machine of @CORES@ cores: compare ratios of times, not times. A time is
  the least of several calls in one process; for rliable's probability of improvement there was one call.
* Scores: Atari 100k, five algorithms on 26 games, human-normalised (the runs of the rliable paper, 100 in each cell; the first ten are its case
  study). Votes: made up, with a known truth. Resamples: @RESAMPLES@ everywhere, 500 for coverage.
* rliable's dependency arch 7.2 cannot be imported with pandas 3, so pandas @PANDAS@ was installed by hand.

## What each takes and gives

|  | Gnomon | rliable | SciPy | autorank | Arena-Rank |
|---|---|---|---|---|---|
| takes | files, frames, arrays of runs; unequal numbers, gaps, censored runs; items of evaluations; votes | one full array (runs, tasks) for each algorithm | arrays | a frame with one number for each algorithm and task, no gaps | votes: two names and a winner |
| aggregates | mean, median, IQM, optimality gap, more, your own | the same four, your own | your own | mean or median of all tasks | – |
| intervals | one rule for every metric: Student's t with moderated variances; also of differences | bootstrap over runs, or runs and tasks | bootstrap; strata by hand | of mean or median | sandwich, bootstrap |
| probability of improvement | value, interval, p | value, interval | Mann-Whitney, task by task | effect sizes | from ratings |
| performance profiles | pointwise bands, distances from the best | pointwise bands | – | – | – |
| learning curves | yes | yes | – | – | – |
| tests over tasks | Friedman, pairwise comparisons with Holm | – | Friedman, Wilcoxon and many more | chosen for you: t, Wilcoxon, ANOVA with Tukey, Friedman with Nemenyi, Bayesian signed ranks | – |
| ranks | with intervals and tiers | – | – | mean ranks, critical difference | ratings with intervals |
| how many runs | power from the runs at hand | – | by hand | – | – |
| covariates of a vote | – | – | – | – | yes |
| writes | tables, LaTeX, figures, a page | figures | – | text, LaTeX, figures | – |

## Aggregates and their intervals

@ESTIMATES@

Values agree to the last digit. SciPy, with each task as a sample, gives rliable's intervals. Gnomon's intervals are wider on purpose, as the
next section shows; `method="percentile"` gives rliable's. They take a twentieth of the time or less.

## How often do the intervals hold?

Runs were drawn from the 100 runs of SPR, 200 times for each number of runs. The table shows how often the nominal 95 % interval contains the IQM of
all 100 runs (standard error about two points).

@COVERAGE@

A resample of few runs varies less than new runs do: with three runs by a third of the variance. At ten runs rliable's intervals are
accurate here, and Gnomon's wider than necessary. [Statistics](statistics.md#measured-coverage) has the coverage on further populations, and
the limits of Gnomon's intervals.

## Probability of improvement

@IMPROVEMENT@

The same values, and intervals of the same width: here ten runs on 26 games are enough for the bootstrap. rliable calls SciPy's Mann-Whitney
test once for each game and resample, and discards its p-values.

## Performance profiles

@PROFILES@

rliable's band is the percentile bootstrap's, Gnomon's is Wilson's interval at the effective number of runs, in closed form: at ten runs it is
wider by a sixth to a quarter, most where almost all or almost no runs exceed the threshold.

## Tests over tasks

@TESTS@

All agree. autorank was set to use ranks (`force_mode`); by default it first tests whether the means are normal. Neither it nor SciPy uses the
variation of runs: the ten runs of a cell are one number. Gnomon's `rank` compares the runs, and so infers differences on *these* games.

## Ratings

@VOTES@

Both agree in every printed digit.

## Gaps, unequal numbers, seeds

@FAULTS@

rliable draws from NumPy's global state, whatever `random_state` is given: seed it (`numpy.random.seed`) for reproducible numbers.
[`gnomon.compat.rliable`](from-rliable.md) has the same functions with Gnomon's estimators, and has
none of these problems.

## Where a peer is the better choice

* **rliable**, if reviewers know its intervals and you have more than twenty runs or can live with narrow ones; if your statistic returns several
  numbers at once; if you want a package of three files.
* **SciPy**, for one test, in a millisecond and with no further dependency; for statistics and distributions of every other kind; for its
  many users.
* **autorank**, if you have one number for each data set and want one call that chooses and explains the test, and writes the paragraph and the
  LaTeX. It has a Bayesian test.
* **Arena-Rank**, for votes: it takes millions of them, weighs pairs anew, and takes out what the style of an answer adds. Gnomon reads files of votes
  (`gnomon rank votes.csv`) and rates them, without covariates.

Gnomon is young, and its interface may still change; the four have been used in many papers. It answers all of these questions from one
table, and states the limits of the data with each answer.
"""

if __name__ == "__main__":
    main(Path(sys.argv[1]))
