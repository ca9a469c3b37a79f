"""Order agreement: whether predicted summaries stand in the order of the true ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray


@dataclass(frozen=True)
class OrderAgreement:
    """How well a predicted order agrees with the true one.

    Parameters
    ----------
    n_pairs, n_concordant : int
        Pairs of algorithms whose true summaries differ, and those in the right order.
    tau : float
        Kendall's tau-b.
    n_clear, n_clear_right : int
        The same for pairs that differ clearly.
    """

    n_pairs: int
    n_concordant: int
    tau: float
    n_clear: int
    n_clear_right: int

    @property
    def concordance(self) -> float:
        """Share of pairs in the right order."""
        return self.n_concordant / self.n_pairs if self.n_pairs else float("nan")

    @property
    def clear_concordance(self) -> float:
        """Share of clearly different pairs in the right order."""
        return self.n_clear_right / self.n_clear if self.n_clear else float("nan")


def order_agreement(
    predicted: npt.ArrayLike, true: npt.ArrayLike, *, clear: float = 1.25
) -> OrderAgreement:
    """Compare the order of predicted summaries with that of the true ones.

    Parameters
    ----------
    predicted, true : array_like of float, shape (algorithms,)
        In units of the scores; NaN is left out.
    clear : float
        Two algorithms differ clearly if the one summary is more than so many times the other; of
        summaries below 0, their sizes are compared.

    Returns
    -------
    OrderAgreement

    Examples
    --------
    >>> agreement = order_agreement([1.0, 3.0, 2.0], [10.0, 20.0, 21.0])
    >>> agreement.n_concordant, agreement.n_pairs, agreement.n_clear, agreement.n_clear_right
    (2, 3, 2, 2)
    """
    p, t = np.asarray(predicted, dtype=np.float64), np.asarray(true, dtype=np.float64)
    whole = ~(np.isnan(p) | np.isnan(t))
    p, t = p[whole], t[whole]
    upper = np.triu_indices(p.size, 1)
    dt, dp = (t[:, np.newaxis] - t)[upper], (p[:, np.newaxis] - p)[upper]
    right = dt * dp > 0
    smaller = np.minimum.outer(np.abs(t), np.abs(t))[upper]
    is_clear = np.abs(dt) > (clear - 1.0) * smaller
    return OrderAgreement(
        n_pairs=int((dt != 0).sum()),
        n_concordant=int(right.sum()),
        tau=kendall_tau(p, t),
        n_clear=int(is_clear.sum()),
        n_clear_right=int((right & is_clear).sum()),
    )


def kendall_tau(x: FloatArray, y: FloatArray) -> float:
    """Return Kendall's tau-b of two lists, NaN left out; NaN if one of them is constant.

    Examples
    --------
    >>> kendall_tau(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))
    0.3333333333333333
    """
    whole = ~(np.isnan(x) | np.isnan(y))
    x, y = x[whole], y[whole]
    upper = np.triu_indices(x.size, 1)
    dx = np.sign(x[:, np.newaxis] - x)[upper]
    dy = np.sign(y[:, np.newaxis] - y)[upper]
    both = float(np.sqrt((dx != 0).sum() * (dy != 0).sum()))
    return float((dx * dy).sum() / both) if both else float("nan")
