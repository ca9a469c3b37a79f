import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gohr.learners.uniform_numbers import Draws


@given(st.lists(st.integers(1, 9), max_size=12), st.integers(1, 7), st.integers(1, 5))
def test_looking_ahead_changes_no_number(looks, block, width):
    draws = Draws(width, rng=np.random.default_rng(5), block=block)
    rows = []
    for look in looks:
        rows.extend(draws.ahead(look)[: look // 2])
        draws.use(look // 2)
        rows.append(draws.row())
    plain = np.random.default_rng(5).random((len(rows), width))
    assert np.array_equal(np.array(rows).reshape(-1, width), plain)
