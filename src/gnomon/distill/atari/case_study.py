"""Would a paper have changed its findings with a subset? Errors, inversions, and a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from gnomon.errors import ScoreDataError

__all__ = ["CaseStudy", "StudiedAlgorithm", "case_study"]


@dataclass(frozen=True)
class StudiedAlgorithm:
    """True and estimated summary of an algorithm, and the relative error of the estimate."""

    algorithm: str
    summary: float
    estimate: float
    relative_error: float


@dataclass(frozen=True)
class CaseStudy:
    """What would have changed (section 7 of the Atari-5 paper).

    Parameters
    ----------
    algorithms : tuple of StudiedAlgorithm
    mean_error : float
    inversions : tuple of pairs of str
        Pairs in another order by the estimates than by the summaries.
    rescaled : tuple of StudiedAlgorithm
        The same relative to the baseline.
    mean_rescaled_error : float
        Of all but the baseline.
    baseline : str
    """

    algorithms: tuple[StudiedAlgorithm, ...]
    mean_error: float
    inversions: tuple[tuple[str, str], ...]
    rescaled: tuple[StudiedAlgorithm, ...]
    mean_rescaled_error: float
    baseline: str


def case_study(
    names: Sequence[str],
    summaries: Sequence[float],
    estimates: Sequence[float],
    *,
    baseline: str | None = None,
) -> CaseStudy:
    """Compare estimates from a subset with the true summaries of some algorithms.

    Parameters
    ----------
    names : sequence of str
    summaries, estimates : sequence of float
    baseline : str, optional
        What to rescale to; the algorithm with the best summary if not given.

    Returns
    -------
    CaseStudy

    Raises
    ------
    ScoreDataError
        The baseline has a score of 0, so nothing can be relative to it.

    Examples
    --------
    Tables 4 and 5 of the paper:

    >>> names = ["C51", "IQN", "C2D", "Rainbow"]
    >>> study = case_study(names, [109, 129, 133, 147], [96, 95, 111, 118])
    >>> round(study.mean_error, 3), study.inversions, study.baseline
    (0.186, (('C51', 'IQN'),), 'Rainbow')
    """
    base = (
        names[max(range(len(names)), key=lambda i: summaries[i])] if baseline is None else baseline
    )
    k = list(names).index(base)
    if not (summaries[k] and estimates[k]):
        raise ScoreDataError(
            f"expected a baseline whose scores are not 0; {base} has {summaries[k]:g} and "
            f"{estimates[k]:g}"
        )
    plain = tuple(map(_studied, names, summaries, estimates))
    scaled = tuple(
        _studied(n, s / summaries[k], e / estimates[k])
        for n, s, e in zip(names, summaries, estimates, strict=True)
    )
    others = [a.relative_error for a in scaled if a.algorithm != base]
    inversions = tuple(
        (a.algorithm, b.algorithm)
        for a, b in combinations(plain, 2)
        if (a.summary - b.summary) * (a.estimate - b.estimate) < 0
    )
    return CaseStudy(
        plain,
        sum(a.relative_error for a in plain) / len(plain),
        inversions,
        scaled,
        sum(others) / len(others) if others else float("nan"),
        base,
    )


def _studied(name: str, summary: float, estimate: float) -> StudiedAlgorithm:
    error = abs(estimate - summary) / abs(summary) if summary else float("nan")
    return StudiedAlgorithm(name, float(summary), float(estimate), error)
