"""The tests of this folder need JAX."""

import pytest

pytest.importorskip("jax", reason="JAX is not installed (the extra jax)")
