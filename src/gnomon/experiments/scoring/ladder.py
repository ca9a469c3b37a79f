"""The table of a ladder of rules, and the probe for contamination by what was published."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from gnomon.errors import ScoreDataError
from gnomon.experiments.config.suites import Suite, load_suite
from gnomon.results import FieldRecord, Results

if TYPE_CHECKING:
    from gnomon.scores.table import ScoreTable
    from gnomon.stats.comparisons.comparison_records import Comparisons

#: The row of all rules together.
EVERY = "all"


@dataclass(frozen=True)
class RungScore(FieldRecord):
    """What a player scores on a rung of a ladder: means over rules of the means over trials.

    Parameters
    ----------
    algorithm : str
    rung : str
        What the rules of the rung ask for, or ``all``.
    published : float
        On the rules of the ladder; NaN if one of them has no score.
    held_out : float
        On their held-out variants, likewise.
    n_rules : int
        Number of rules of the rung.

    Examples
    --------
    >>> RungScore("ideal", "memory", 0.6, 0.5, 3).n_rules
    3
    """

    algorithm: str
    rung: str
    published: float
    held_out: float
    n_rules: int


class Ladder(Results[RungScore]):
    """The rungs of a ladder, player by player, the easiest rung first.

    Examples
    --------
    >>> Ladder((RungScore("ideal", "memory", 0.6, 0.5, 3),)).by_algorithm()
    [{'algorithm': 'ideal', 'memory': 0.6}]
    """

    def by_algorithm(self, *, held_out: bool = False) -> list[dict[str, Any]]:
        """Return a row a player with a column a rung; none where nothing was played."""
        rows: dict[str, dict[str, Any]] = {}
        for one in self:
            row = rows.setdefault(one.algorithm, {"algorithm": one.algorithm})
            row[one.rung] = one.held_out if held_out else one.published
        return [
            row
            for row in rows.values()
            if not all(isinstance(x, str) or math.isnan(x) for x in row.values())
        ]


def ladder(scores: ScoreTable, suite: str = "gohr-induction") -> Ladder:
    """Return the table of a ladder: each player's mean score on each rung.

    Learners, people and models may stand in one table of scores; a run, an imported study and logs
    are read together by :func:`gnomon.read_scores`.

    Parameters
    ----------
    scores : ScoreTable
        With the rules as tasks, and their variants as tasks ``RULE@SEED``.
    suite : str
        A suite with rungs.

    Raises
    ------
    ScoreDataError
        If the suite has no rungs.

    Examples
    --------
    >>> import gnomon as gn
    >>> found = ladder(gn.load_scores("gohr-induction", "skill"))
    >>> [one.rung for one in found if one.algorithm == "ideal"][:3]
    ['feature', 'position', 'order']
    """
    chosen = load_suite(suite)
    if not chosen.rungs:
        raise ScoreDataError(f"suite {suite!r} has no rungs")
    means = _means(scores)
    records = tuple(record for name in scores.algorithms for record in _rungs(name, chosen, means))
    return Ladder(records, settings={"suite": chosen.full_name, "metric": scores.metric})


def with_people(scores: ScoreTable, people: ScoreTable) -> ScoreTable:
    """Return scores with those of people beside them, all as runs of one player, ``people``.

    Who plays as a study asks plays few of the rules, so that rungs are of all people together.

    Parameters
    ----------
    scores : ScoreTable
    people : ScoreTable
        The same score, with the people as algorithms.

    Examples
    --------
    >>> import gnomon as gn
    >>> learners = gn.load_scores("gohr-induction", "skill").select(algorithms=["ideal"])
    >>> person = {"algorithm": "p-1", "task": "clockwise", "run": 0, "score": 0.4}
    >>> both = with_people(learners, gn.ScoreTable.from_records([person], metric="skill"))
    >>> both.algorithms, both.runs("people", "clockwise").tolist()
    (('ideal', 'people'), [0.4])
    """
    from gnomon.scores.table import ScoreTable

    run = pl.col("run").cast(pl.String)
    theirs = (
        people.last_step()
        .to_frame()
        .select(
            algorithm=pl.lit("people"),
            task="task",
            run=pl.format("{} {}", "algorithm", run),
            score="score",
        )
    )
    ours = scores.last_step().to_frame().select("algorithm", "task", run=run, score="score")
    better = scores.higher_is_better
    both = pl.concat([ours, theirs])
    return ScoreTable.from_frame(both, metric=scores.metric, higher_is_better=better)


def _means(scores: ScoreTable) -> dict[tuple[str, str, bool], float]:
    """Return means over trials by player, rule, and whether of variants, over which it is too."""
    frame = _parted(scores)
    by_task = frame.group_by("algorithm", "rule", "variant", "task").agg(pl.col("score").mean())
    by_rule = by_task.group_by("algorithm", "rule", "variant").agg(pl.col("score").mean())
    return {(row[0], row[1], row[2]): row[3] for row in by_rule.iter_rows()}


def _parted(scores: ScoreTable) -> pl.DataFrame:
    """Return the scores with the rule that each task is, or is a variant of."""
    at = pl.col("task").str.split("@")
    return (
        scores.last_step().to_frame().with_columns(rule=at.list.first(), variant=at.list.len() > 1)
    )


def _rungs(
    algorithm: str, suite: Suite, means: dict[tuple[str, str, bool], float]
) -> Iterator[RungScore]:
    rungs = {name: tuple(rules) for name, rules in suite.rungs.items()} | {EVERY: suite.rules}
    for rung, rules in rungs.items():
        published, held_out = (
            _mean([means.get((algorithm, rule, variant)) for rule in rules])
            for variant in (False, True)
        )
        yield RungScore(algorithm, rung, published, held_out, len(rules))


def _mean(values: list[float | None]) -> float:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if len(known) == len(values) else math.nan


def contamination(scores: ScoreTable, **settings: Any) -> Comparisons:
    """Compare what each player scores on held-out variants with what it scores on published rules.

    Who knows the text of a published rule does worse on a variant of its family. Variants may also
    be harder or easier in themselves, for a fixed seed: that is what the differences of players
    show that can have read nothing, such as ``uniform`` or ``tabular_q``. ``ideal`` has read: it
    thinks each rule of the library likelier than any variant, and its difference shows what that
    is worth.

    ⚠ An interval is of the given rules and variants: it holds what more trials of them would give,
    and leaves 0 out for variants of one seed that are a little harder in themselves.

    Parameters
    ----------
    scores : ScoreTable
        With variants as tasks ``RULE@SEED``; of several seeds the trials count together.
    **settings
        As of :func:`gnomon.compare`; the metric is the mean over rules if none is given.

    Returns
    -------
    Comparisons
        One a player that has both, ``a`` the held-out variants and ``b`` the published rules.

    Raises
    ------
    ScoreDataError
        If no player has both.

    Examples
    --------
    >>> import gnomon as gn
    >>> scores = gn.load_scores("gohr-induction", "skill").select(algorithms=["ideal"])
    >>> print(contamination(scores)[0].a)
    ideal, held out
    """
    from gnomon.scores.table import ScoreTable
    from gnomon.stats import compare

    frame = _parted(scores)
    sides = {}
    for name in scores.algorithms:
        of_both = frame.filter(algorithm=name)["variant"].unique()
        if len(of_both) == 2:
            sides[name] = f"{name}, held out", f"{name}, published"
    if not sides:
        raise ScoreDataError("expected rules and their variants RULE@SEED, found no player of both")
    which = pl.when("variant").then(pl.lit(", held out")).otherwise(pl.lit(", published"))
    rows = frame.select(
        algorithm=pl.col("algorithm") + which,
        task="rule",
        run=pl.col("task") + " " + pl.col("run").cast(pl.String),
        score="score",
    )
    better = scores.higher_is_better
    table = ScoreTable.from_frame(rows, metric=scores.metric, higher_is_better=better)
    settings = {"metrics": ["mean"]} | settings
    found = [compare(table, *pair, **settings) for pair in sides.values()]
    return replace(found[0], records=tuple(one for part in found for one in part))
