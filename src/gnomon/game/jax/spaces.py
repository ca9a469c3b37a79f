"""Spaces of actions and observations with the methods of gymnax's: sample from a key, contains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class Discrete:
    """The integers from 0 to ``n - 1``.

    Examples
    --------
    >>> import jax
    >>> space = Discrete(144)
    >>> bool(space.contains(space.sample(jax.random.key(0))))
    True
    """

    n: int
    dtype: Any = jnp.int32
    shape = ()

    def sample(self, key: jax.Array) -> jax.Array:
        """Draw one uniformly."""
        return jax.random.randint(key, (), 0, self.n, self.dtype)

    def contains(self, x: Any) -> jax.Array:
        """Tell whether a number is one of them."""
        return (jnp.asarray(x) >= 0) & (jnp.asarray(x) < self.n)


@dataclass(frozen=True)
class Box:
    """Arrays of integers of one shape, each between two bounds, both included.

    Examples
    --------
    >>> import jax
    >>> Box(0, 16, (36,)).sample(jax.random.key(0)).shape
    (36,)
    """

    low: int
    high: int
    shape: tuple[int, ...]
    dtype: Any = jnp.uint8

    def sample(self, key: jax.Array) -> jax.Array:
        """Draw each entry uniformly."""
        drawn = jax.random.randint(key, self.shape, self.low, self.high + 1, jnp.int32)
        return drawn.astype(self.dtype)

    def contains(self, x: Any) -> jax.Array:
        """Tell whether all entries are within the bounds."""
        return jnp.all((jnp.asarray(x) >= self.low) & (jnp.asarray(x) <= self.high))


@dataclass(frozen=True)
class Dict:
    """A space for each named field of an observation.

    Examples
    --------
    >>> import jax
    >>> sorted(Dict({"bucket": Discrete(5)}).sample(jax.random.key(0)))
    ['bucket']
    """

    spaces: Mapping[str, Any]

    def sample(self, key: jax.Array) -> dict[str, jax.Array]:
        """Draw each field."""
        keys = jax.random.split(key, len(self.spaces))
        return {
            name: space.sample(k)
            for k, (name, space) in zip(keys, self.spaces.items(), strict=True)
        }

    def contains(self, x: Any) -> jax.Array:
        """Tell whether each field, an attribute or an entry of ``x``, is in its space."""
        fields = x if isinstance(x, Mapping) else {name: getattr(x, name) for name in self.spaces}
        inside = [space.contains(fields[name]) for name, space in self.spaces.items()]
        return jnp.all(jnp.stack(inside))
