"""Variance components of a mean over items: of clusters, of items, of epochs.

Which of them is large says what helps: more epochs take away only their own part, more items those
of items and epochs, and more clusters all three.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray
from gnomon.stats.items.cluster_errors import Clusters


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Variances of one value: between clusters, between items of a cluster, between epochs.

    Parameters
    ----------
    clusters : float
        0 if items are independent.
    items : float
        With what epochs do, if there is one epoch.
    epochs : float
        Of a single epoch; NaN if no item has two.
    n_items : int
    n_even : float
        How many clusters of one size would be as uneven (Kish); items, without clusters.
    n_epochs : float
        Of an item: the harmonic mean.

    Examples
    --------
    >>> parts = VarianceComponents(0.0, 0.15, 0.05, n_items=100, n_even=100.0, n_epochs=5.0)
    >>> print(round(parts.variance(), 6), round(parts.variance(n_epochs=50.0), 6))
    0.0016 0.00151
    """

    clusters: float
    items: float
    epochs: float
    n_items: int
    n_even: float
    n_epochs: float

    def variance(self, *, items: float = 1.0, n_epochs: float | None = None) -> float:
        """Return the variance of the mean of other studies.

        Parameters
        ----------
        items : float
            How many times as many items, in clusters like these.
        n_epochs : float, optional
            Epochs of each item; as it was, if not given.
        """
        return sum(self.parts(items=items, n_epochs=n_epochs))

    def parts(
        self, *, items: float = 1.0, n_epochs: float | None = None
    ) -> tuple[float, float, float]:
        """Return what clusters, items and epochs add to the variance of the mean."""
        epochs = 0.0 if math.isnan(self.epochs) else self.epochs
        each = self.n_epochs if n_epochs is None else n_epochs
        return (
            self.clusters / (self.n_even * items),
            self.items / (self.n_items * items),
            epochs / each / (self.n_items * items),
        )

    @property
    def shares(self) -> tuple[float, float, float]:
        """Shares of the variance of the mean, of clusters, items and epochs.

        That of epochs is NaN if no item has two; all are if scores do not vary.
        """
        clusters, items, epochs = self.parts()
        total = clusters + items + epochs
        if total == 0.0:
            return math.nan, math.nan, math.nan
        own = math.nan if math.isnan(self.epochs) else epochs / total
        return clusters / total, items / total, own


def variance_components(
    values: FloatArray,
    noise: FloatArray,
    n_epochs: npt.NDArray[np.int64],
    clusters: Clusters | None,
) -> VarianceComponents:
    """Split the variance of items by moments.

    Epochs: the variance within items. Clusters: the mean product of two items of one cluster. Items
    are the rest; none is below 0.

    Parameters
    ----------
    values : ndarray of float, shape (items,)
        Means over epochs.
    noise : ndarray of float, shape (items,)
        Variances of these by their epochs; NaN where they are not known.
    n_epochs : ndarray of int, shape (items,)
        Of either model, in a comparison.
    clusters : Clusters or None

    Examples
    --------
    >>> x = np.array([[1, 1, 0, 1], [0, 0, 1, 0], [1, 1, 1, 1], [0, 1, 0, 0], [1, 0, 1, 1.0]])
    >>> parts = variance_components(x.mean(axis=1), x.var(axis=1, ddof=1) / 4, np.full(5, 4), None)
    >>> print(round(parts.items, 3), round(parts.epochs, 3))
    0.062 0.2
    """
    n, residuals = values.size, values - values.mean()
    total = float(residuals @ residuals) / max(n - 1, 1)
    known = ~np.isnan(noise)
    epochs = within = math.nan
    each = float(n / np.sum(1.0 / n_epochs))
    if known.any():
        # Where an item has one epoch, its noise is taken to be that of the others.
        epochs = float(np.sum(noise[known] * n_epochs[known] * (n_epochs[known] - 1)))
        epochs = max(epochs / float(np.sum(n_epochs[known] - 1)), 0.0)
        within = epochs / each
    spread = max(total - (0.0 if math.isnan(within) else within), 0.0)
    shared, even = 0.0, float(n)
    if clusters is not None:
        sizes = clusters.sizes.astype(np.float64)
        even = n**2 / float(sizes @ sizes)
        n_pairs = float(sizes @ (sizes - 1.0))
        if n_pairs > 0.0:
            products = float(np.sum(clusters.sums(residuals) ** 2)) - float(residuals @ residuals)
            # Residuals of all items add up to 0, so that products of any two are below 0.
            shared = products / n_pairs + total / n
            shared = min(max(shared, 0.0), spread)
    return VarianceComponents(shared, spread - shared, epochs, n, even, each)
