import numpy as np
import pytest

from gohr.learners.linear_models import feature_table


def test_counts_of_the_paper():
    active, n_features = feature_table(4, 4)
    assert n_features == 12 + 48 + 60 + 3600
    assert active.shape == (65 * 17 * 4, 18)
    by_code = active.reshape(65, 17, 4, 18)
    occupied, empty = by_code[:, 1:].reshape(-1, 18), by_code[:, 0].reshape(-1, 18)
    assert all(len(set(row)) == 18 and max(row) < 3720 for row in occupied.tolist())
    # Of an empty cell only the bucket is known, and the last bucket beside it.
    assert ((empty < 3720).sum(axis=1) == 2).all()
    # Where one part of the last accepted attempt is none, so are the others.
    assert len(np.unique(occupied)) == 2568


@pytest.mark.parametrize(("n_shapes", "n_colors"), [(1, 1), (2, 5), (3, 4), (7, 2)])
def test_other_palettes(n_shapes, n_colors):
    active, n_features = feature_table(n_shapes, n_colors)
    n_codes = 1 + n_shapes * n_colors
    occupied = active.reshape(-1, n_codes, 4, 18)[:, 1:].reshape(-1, 18)
    assert occupied.max() == n_features - 1
    assert all(len(set(row)) == 18 for row in occupied.tolist())


def test_the_shared_table_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        feature_table().active[0, 0] = 1
