"""Profiles of every kind, by name: of scores, and of the distance from the best algorithm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnomon.errors import listed
from gnomon.results import Results, Row, finite_or_none, generator, made_by, recorded
from gnomon.scores.readers.summaries import SummaryTable
from gnomon.scores.table import ScoreTable
from gnomon.stats.profiles.bands import Band, Kind
from gnomon.stats.profiles.distance import DistanceKind, distance_profiles
from gnomon.stats.profiles.performance import Profile, Spacing, performance_profiles

ProfileKind = Kind | DistanceKind


@dataclass(frozen=True, eq=False, repr=False)
class Profiles(Results[Profile]):
    """The profile of every algorithm; see :func:`profile`.

    People see what is read off each, or, where thresholds were given, the shares at those.

    Examples
    --------
    >>> from gnomon.stats import profile
    >>> scores = ScoreTable.from_arrays({"dqn": [[1.0, 2.0], [3.0, 4.0]]})
    >>> found = profile(scores, band="none")
    >>> len(found), len(found.as_records())
    (1, 81)
    """

    drawn_by = "gnomon.plot.lines:profile_figure"

    @property
    def title(self) -> str | None:
        """What the columns are."""
        return None if self.settings.get("tau") else "area, and thresholds of shares"

    @property
    def notes(self) -> tuple[str, ...]:
        """What lies beyond thresholds that nobody gave."""
        return () if self.settings.get("tau") else tuple(beyond_thresholds(self))

    def as_records(self) -> list[dict[str, Any]]:
        """Return a mapping for each threshold of each profile."""
        return [record for one in self for record in one.as_records()]

    def rows(self) -> Sequence[Row]:
        """Return what is read off each profile, or its shares at the thresholds asked for."""
        return self.as_records() if self.settings.get("tau") else [_readings(one) for one in self]


def beyond_thresholds(profiles: Sequence[Profile]) -> Iterator[str]:
    """Say whose scores lie beyond the thresholds, and how many.

    Examples
    --------
    >>> from gnomon.stats import performance_profiles
    >>> table = ScoreTable.from_arrays({"dqn": [[1.0], [2.0], [3.0], [9.0]]})
    >>> found = performance_profiles(table, [0, 3], band="none", rng=np.random.default_rng(0))
    >>> list(beyond_thresholds(found))
    ['Runs above the last threshold, 3: 25.0% of dqn.']
    """
    counted = "Tasks" if profiles[0].kind == "average_score" else "Runs"
    for side, where, end in ((0, "below the first", 0), (1, "above the last", -1)):
        shares = {one.algorithm: one.beyond[side] for one in profiles if one.beyond[side] > 1e-9}
        if shares:
            most = sorted(shares, key=lambda name: -shares[name])
            told = listed([f"{shares[name]:.1%} of {name}" for name in most], 6)
            yield f"{counted} {where} threshold, {profiles[0].tau[end]:.3g}: {told}."


def _readings(one: Profile) -> Row:
    shares = {f"{share:.0%}": one.quantile(share) for share in (0.75, 0.5, 0.25)}
    if one.kind in ("ratio", "likelihood", "permutation"):
        # These profiles rise: the first threshold within which a share of the tasks is.
        shares = {f"{s:.0%}": one.first_reaching(s) for s in (0.25, 0.5, 0.75)}
    numbers = {name: finite_or_none(value) for name, value in shares.items()}
    return {"algorithm": one.algorithm, "kind": one.kind, "area": one.area()} | numbers


def profile(
    scores: ScoreTable | SummaryTable,
    kind: ProfileKind = "run_score",
    tau: npt.ArrayLike | None = None,
    *,
    spacing: Spacing = "auto",
    band: Band = "pointwise",
    df: Literal["welch", "as_published"] = "welch",
    higher_is_better: bool = True,
    level: float = 0.95,
    n_resamples: int = 2000,
    rng: np.random.Generator | int | None = None,
) -> Profiles:
    """Return what share of runs, or of tasks, gets past each threshold, for every algorithm.

    Parameters
    ----------
    scores : ScoreTable or SummaryTable
        One score for each run; or, for ratios and likelihoods, means, standard deviations and
        numbers of runs.
    kind : str
        ``run_score``: share of runs; ``average_score``: share of tasks by their mean; and three of
        the distance from the best algorithm of each task: ``ratio`` (Dolan and Moré),
        ``likelihood`` (Recht), ``permutation``.
    tau : array_like of float, optional
        Thresholds; if not given, `spacing` or the kind chooses them.
    spacing : str
        ``linear``, ``log`` (symmetric about zero, where scores are not positive), ``data``:
        quantiles of all scores, or ``auto``: one of the first two; see
        :func:`~gnomon.stats.profiles.performance.thresholds`.
    band : str
        ``pointwise``, ``simultaneous`` for the whole curve, or ``none``; profiles of distance have
        none. Bands of run scores are Wilson's, see :func:`~gnomon.stats.wilson_band`.
    df : str
        Degrees of freedom of a likelihood profile; see
        :func:`~gnomon.stats.profiles.distance.likelihood_distances`.
    higher_is_better : bool
        Direction of a SummaryTable; a ScoreTable knows its own.
    level : float
        Confidence level of the band.
    n_resamples : int
        Number of resamples, for bands of average scores.
    rng : numpy.random.Generator or int, optional
        Source of all draws, or their seed; seed 0 if not given.

    Returns
    -------
    Profiles
        In the table's order; its warnings say at how many thresholds a band of average scores has
        no width, which is no certainty. See
        :func:`~gnomon.stats.profiles.performance.performance_profiles` and
        :func:`~gnomon.stats.profiles.distance.distance_profiles`.

    Raises
    ------
    ScoreDataError
        No score is finite; ratios or tests that the scores do not allow.
    TypeError
        Profiles of scores are asked of a SummaryTable.

    Warns
    -----
    DegenerateScoresWarning
        There is no band.

    Examples
    --------
    >>> from gnomon.stats import profile
    >>> scores = ScoreTable.from_arrays({"dqn": [[1.0, 2.0], [3.0, 4.0]]})
    >>> profile(scores, tau=[1.5, 2.5])[0].value
    array([0.75, 0.5 ])
    """
    at = None if tau is None else np.sort(np.asarray(tau, dtype=np.float64))
    draws = generator(rng)
    scale = ""
    if isinstance(scores, ScoreTable):
        scale, higher_is_better = scores.scale, scores.higher_is_better
    with recorded() as notes:
        if kind == "run_score" or kind == "average_score":
            if not isinstance(scores, ScoreTable):
                raise TypeError(f"{kind}: expected a ScoreTable, found a {type(scores).__name__}")
            found = performance_profiles(
                scores,
                at,
                kind=kind,
                spacing=spacing,
                band=band,
                level=level,
                n_resamples=n_resamples,
                rng=draws,
            )
        else:
            found = distance_profiles(
                scores, kind, at, df=df, higher_is_better=higher_is_better, rng=draws
            )
    settings = made_by(
        rng,
        kind=kind,
        tau=None if at is None else at.tolist(),
        band=found[0].band,
        level=level,
        n_resamples=n_resamples,
        scale=scale,
        higher_is_better=higher_is_better,
    )
    return Profiles(tuple(found), settings, (*notes, *_flat_bands(found)))


def _flat_bands(profiles: Sequence[Profile]) -> Iterator[str]:
    """Say where bands have no width: resampled task means may all lie on one side."""
    flat = ", ".join(f"{one.n_flat()} of {one.algorithm}" for one in profiles if one.n_flat())
    if flat:
        n = profiles[0].tau.size
        yield (
            f"the band has no width where a threshold parts no resamples ({flat}, of {n} "
            "thresholds), which is no certainty"
        )
