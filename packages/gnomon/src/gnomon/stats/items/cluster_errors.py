"""Cluster-robust standard errors of a mean, with degrees of freedom for few and unequal clusters.

Items of one cluster (a document, a topic, a repository) are alike, so that clusters, not items, are
what was drawn. The variance is Bell and McCaffrey's (2002): squared sums of the residuals of each
cluster, each raised by what the mean took from it (CR2). Degrees of freedom are Satterthwaite's,
as they are for items that are independent: with unequal clusters they are far fewer than clusters.

Differences of models that are right or wrong, correlations of 0 to 0.3 within clusters, are covered
in 95 to 99 % from 5 clusters on (least 92), equal ones or not, also where one holds half of all
items. There the usual formula (CR1, the factor G / (G - 1) in place of CR2, and one degree of
freedom less than clusters) covers 73 to 91 % (least 60); of equal clusters both are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Clusters of items, as whole numbers.

    Parameters
    ----------
    codes : ndarray of int, shape (items,)
        Number of each item's cluster, from 0.
    sizes : ndarray of int, shape (clusters,)
        Items of each; none is 0.
    """

    codes: IntArray
    sizes: IntArray

    @classmethod
    def of(cls, labels: Sequence[object] | npt.NDArray[np.generic]) -> Clusters:
        """Return clusters from the labels of items.

        Examples
        --------
        >>> Clusters.of(["b", "a", "b"]).sizes
        array([1, 2])
        """
        _, codes, sizes = np.unique(np.asarray(labels), return_inverse=True, return_counts=True)
        return cls(codes.astype(np.int64), sizes.astype(np.int64))

    def __len__(self) -> int:
        return self.sizes.size

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the sum of the values of each cluster's items, shape (clusters,)."""
        sums = np.bincount(self.codes, weights=values, minlength=len(self))
        return sums.astype(np.float64, copy=False)


@dataclass(frozen=True, slots=True)
class ClusterError:
    """Variance of a mean over items in clusters, and what is known of it.

    Parameters
    ----------
    variance : float
    df : float
        Satterthwaite's degrees of freedom, at least 1 where there are two clusters.
    n_clusters : int
    design_effect : float
        The variance over that of as many items without clusters; NaN if the scores do not vary.

    Examples
    --------
    >>> found = cluster_error(np.arange(6.0), Clusters.of(list("aabbcc")))
    >>> found.n_clusters, round(found.design_effect, 2)
    (3, 2.29)
    """

    variance: float
    df: float
    n_clusters: int
    design_effect: float


def cluster_error(values: FloatArray, clusters: Clusters) -> ClusterError:
    """Return the cluster-robust variance of the mean over items (CR2), with its degrees of freedom.

    Parameters
    ----------
    values : ndarray of float, shape (items,)
        Finite.
    clusters : Clusters
        At least two.

    References
    ----------
    Bell and McCaffrey (2002), Survey Methodology 28:169. Imbens and Kolesár (2016), Review of
    Economics and Statistics 98:701.

    Examples
    --------
    >>> x = np.array([1.0, 1.0, 0.0, 0.0, 1.0, 0.0])
    >>> found = cluster_error(x, Clusters.of(list("aabbcc")))
    >>> print(f"{found.variance:.4f} {found.df:.1f}")
    0.0833 2.0
    """
    n, w = values.size, clusters.sizes / values.size
    residuals = values - values.mean()
    sums = clusters.sums(residuals)
    variance = float(np.sum(np.square(sums) / (1.0 - w))) / n**2
    # A sum waits for no threads, as a product of long vectors does on a busy machine.
    plain = float(np.square(residuals).sum()) / (n - 1) / n
    effect = variance / plain if plain > 0.0 else np.nan
    return ClusterError(variance, _freedom(w), len(clusters), effect)


def _freedom(w: FloatArray) -> float:
    """Return Satterthwaite's degrees of freedom of the CR2 variance, from shares of all items.

    Over independent items the variance is a quadratic form of scores whose matrix has the trace of
    diag(w / (1 - w)) - u u', u = w / sqrt(1 - w), which is 1, and the square of the same.
    """
    odds, squares = w / (1.0 - w), w * w / (1.0 - w)
    total = float(squares.sum())
    return 1.0 / (float(odds @ odds) - 2.0 * float(odds @ squares) + total**2)
