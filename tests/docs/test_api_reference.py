"""The API reference: each public name has a first line, and an example that the doctests run."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import gnomon

PACKAGES = [
    "gnomon",
    *(f"gnomon.{p.parent.name}" for p in sorted(Path(gnomon.__file__).parent.glob("*/*.pyi"))),
]

#: Packages whose names need a server, a database or a season to do anything: their tests show them.
SERVED = {"gnomon.leaderboard", "gnomon.studies", "gnomon.database", "gnomon.web"}


def public() -> Iterator[tuple[str, Any]]:
    """Yield each public function and class of this project, once, by its name in a package."""
    seen: set[int] = set()
    for package in reversed(PACKAGES):
        module = import_module(package)
        for name in module.__all__:
            found = getattr(module, name)
            described = inspect.isroutine(found) or inspect.isclass(found)
            ours = str(getattr(found, "__module__", "")).startswith("gnomon")
            if described and ours and id(found) not in seen:
                seen.add(id(found))
                yield f"{package}.{name}", found


def has_example(found: Any) -> bool:
    """Return whether the docstring, of a class also that of a method, has an example."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    inside = import_module(found.__module__)
    return any(test.examples for test in finder.find(found, module=inside))


def test_packages_of_the_reference_say_in_a_docstring_what_they_are():
    for package in PACKAGES:
        module = import_module(package)
        assert isinstance(module, ModuleType)
        assert module.__doc__, package
        assert module.__all__, package


def test_every_public_name_has_a_docstring_of_its_own():
    assert [name for name, found in public() if not (found.__doc__ or "").strip()] == []


def test_every_public_name_has_an_example_that_runs():
    missing = [name for name, found in public() if not has_example(found)]
    assert [name for name in missing if name.rpartition(".")[0] not in SERVED] == []
