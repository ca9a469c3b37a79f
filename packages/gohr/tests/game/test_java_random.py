"""``java.util.Random``, by the numbers that Java gives."""

from __future__ import annotations

import pytest

from gohr.game import JavaRandom


@pytest.mark.parametrize(
    ("seed", "bound", "numbers"),
    [
        # Printed by Java 17.
        (42, 100, [30, 63, 48, 84, 70]),
        (0, 10, [0, 8, 9, 7, 5, 3]),
        (42, 10, [0, 3, 8, 4, 0]),
        # Bounds that are powers of two take the high bits.
        (0, 2, [1, 1, 0, 1, 1]),
        (42, 16, [11, 0, 10, 0, 4]),
        (-7, 36, [22, 33, 34, 27, 30, 11]),
        (2**50, 1_000_000_007, [569741353, 785505941, 516548029, 302116440, 368843508]),
    ],
)
def test_known_numbers(seed, bound, numbers):
    random = JavaRandom(seed)
    assert [random.next_int(bound) for _ in numbers] == numbers


def bits(seed: int):
    """Yield 31 bits after 31 bits of the generator, written down from its definition."""
    state = (seed ^ 25214903917) % 2**48
    while True:
        state = (25214903917 * state + 11) % 2**48
        yield state // 2**17


@pytest.mark.parametrize("seed", [1, -1, 2**40 + 7, 123456789012345678])
def test_bounds_against_the_definition(seed):
    random, source = JavaRandom(seed), bits(seed)
    for bound in (1, 2, 3, 36, 64, 2**30, 2**30 + 1, 2**31 - 1) * 20:
        if bound.bit_count() == 1:
            expected = bound * next(source) // 2**31
        else:
            number = next(source)
            # Numbers of the last, incomplete block are refused.
            while number >= 2**31 // bound * bound:
                number = next(source)
            expected = number % bound
        assert random.next_int(bound) == expected


def test_sample_is_without_replacement():
    items = list(range(36))
    drawn = JavaRandom(5).sample(items, 36)
    assert sorted(drawn) == items == list(range(36))
    assert drawn != items
    assert JavaRandom(5).sample(items, 3) == drawn[:3]


@pytest.mark.parametrize("bound", [0, -1, 2**31])
def test_bound_outside_its_range(bound):
    with pytest.raises(ValueError, match="expected a bound from 1 to 2147483647"):
        JavaRandom(0).next_int(bound)
