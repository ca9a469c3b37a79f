"""Today's behaviour, held: what verbs answer, what learners do, what a client hears, the interface.

What changes on purpose is recorded anew; see ``record.py``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from frozen.record import read_expected, record

pytestmark = pytest.mark.full  # every verb and learner

SECTIONS = ("scores", "runs", "distilled", "board", "text", "captive", "learners", "openapi")
SHOWN = 12


@pytest.mark.parametrize("section", SECTIONS)
def test_frozen(section: str) -> None:
    _hold(section)


def _hold(section: str) -> None:
    expected, found = read_expected(section), record(section)
    if changed := [case for case in expected | found if _differs(expected, found, case)]:
        lines = islice(differences(expected, found), SHOWN)
        pytest.fail("\n".join([f"{section}: changed: {', '.join(changed[:SHOWN])}", *lines]))


def _differs(expected: dict[str, Any], found: dict[str, Any], case: str) -> bool:
    return any(differences(expected.get(case), found.get(case)))


def differences(expected: Any, found: Any, path: str = "") -> Iterator[str]:
    """Yield a line for each place where two JSON values differ; numbers have 12 digits."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in expected | found:
            where = f"{path}[{key!r}]"
            if key not in found or key not in expected:
                yield f"{where}: {'gone' if key in expected else 'new'}"
            else:
                yield from differences(expected[key], found[key], where)
        if list(expected) != list(found) and set(expected) == set(found):
            yield f"{path}: the same keys in another order: {list(found)}"
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            yield f"{path}: expected {len(expected)} values, found {len(found)}"
        for k, pair in enumerate(zip(expected, found, strict=False)):
            yield from differences(*pair, f"{path}[{k}]")
    elif not _equal(expected, found):
        yield f"{path}: expected {expected!r:.200}, found {found!r:.200}"


def _equal(a: Any, b: Any) -> bool:
    numbers = isinstance(a, float) and isinstance(b, float)
    return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12) if numbers else a == b


def test_a_difference_is_told_by_its_place() -> None:
    lines = differences({"a": [1.0, {"b": 2}], "c": 0}, {"a": [1.0 + 1e-14, {"b": 3}], "d": 0})
    assert list(lines) == ["['a'][1]['b']: expected 2, found 3", "['c']: gone", "['d']: new"]
