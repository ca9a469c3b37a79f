"""The API reference: each public name has a first line, and an example that the doctests run."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator
from dataclasses import is_dataclass
from enum import Enum
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
without_jax = pytest.mark.skipif(not find_spec("jax"), reason="needs JAX: the extra jax")
PACKAGES = [
    pytest.param(name, marks=without_jax if name == "gohr.jax" else ())
    for source in sorted(ROOT.glob("packages/*/src"))
    for stub in sorted(source.rglob("__init__.pyi"))
    for name in [".".join(stub.parent.relative_to(source).parts)]
]

#: Packages whose names need a server, a database or a command: their tests show them.
SERVED = {"gnomon.cli", "gnomon_board"}

#: Names that need what does not come with Gnomon, which their tests fetch or skip without: the data
#: set of the Atari-5 paper, gymnax.
NEEDY = {"atari_preparation", "paper_scores", "register_with_gymnax"}


def public(package: str) -> Iterator[tuple[str, Any]]:
    """Yield each function and class of this project that a package offers, by its name."""
    module = import_module(package)
    for name in module.__all__:
        found = getattr(module, name)
        described = inspect.isroutine(found) or inspect.isclass(found)
        if described and str(getattr(found, "__module__", "")).startswith(("gnomon", "gohr")):
            yield name, found


def is_record(found: Any) -> bool:
    """Return whether a class is nothing but fields: an example would only read one back."""
    return inspect.isclass(found) and (
        is_dataclass(found)
        or issubclass(found, Enum)
        or any(hasattr(found, fields) for fields in ("_fields", "model_fields"))
    )


def has_example(found: Any) -> bool:
    """Return whether the docstring, of a class also that of a method, has an example."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    inside = import_module(found.__module__)
    return any(test.examples for test in finder.find(found, module=inside))


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_of_the_reference_say_in_a_docstring_what_they_are(package):
    module = import_module(package)
    assert isinstance(module, ModuleType)
    assert module.__doc__
    assert module.__all__


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_has_a_docstring_and_an_example_that_runs(package):
    assert [name for name, found in public(package) if not (found.__doc__ or "").strip()] == []
    if package not in SERVED and not package.startswith("gnomon_board."):
        bare = {
            name
            for name, found in public(package)
            if not is_record(found) and not has_example(found)
        }
        assert bare <= NEEDY
