"""Doors: the public names of each package are documented, loaded late, and all that is used."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = {
    "gnomon": ROOT / "packages/gnomon",
    "gohr": ROOT / "packages/gohr",
    "gnomon_board": ROOT / "packages/gnomon-board",
}
SOURCES = {name: folder / "src" / name for name, folder in PACKAGES.items()}
#: Which packages each may import.
BELOW = {"gnomon": set(), "gohr": {"gnomon"}, "gnomon_board": {"gnomon", "gohr"}}
NAMES = [
    ".".join((package, *stub.parent.relative_to(source).parts))
    for package, source in SOURCES.items()
    for stub in sorted(source.rglob("__init__.pyi"))
]
#: The packages that declare what is public; the one in JAX where JAX is installed.
DOORS = {
    name: importlib.import_module(name) for name in NAMES if ".jax" not in name or find_spec("jax")
}
#: Modules whose names are public without a stub.
PLAIN = {
    "gnomon.errors",
    "gnomon.text_files",
    "gnomon.results",
    "gnomon.printing",
    "gnomon.cli",
    "gnomon.compat.rliable",
    "gnomon.distillation.atari",
    "gnomon.plot.labels",
    "gnomon.plot.style",
    "gohr.errors",
    "gohr.child_process",
    "gohr.cli",
    "gohr.playing",
    "gohr.replays",
    "gohr.outcomes",
    "gohr.rules.syntax",
    "gohr.captive",
    "gohr.captive_server",
    "gohr.integrations.inspect_ai",
    "gohr.integrations.openenv",
    "gohr.integrations.verifiers",
    "gnomon_board.errors",
    "gnomon_board.cli",
}
#: What tests may import from behind the doors, and why.
EXCEPTIONS: dict[str, str] = {
    "gnomon.scores.datasets": "a data set of a test, fetched from a folder",
    "gnomon.scores.readers.registry": "readers added as an installed package would add them",
    "gnomon_board.database": "sessions on SQLite and PostgreSQL, and one more migration",
    "gnomon_board.schema": "rows that no request leads to",
    "gnomon_board.standings": "standings of any scores, and decoys",
    "gnomon_board.drawn_rules": "rules of any difficulty, with a seed",
    "gnomon_board.remote_play": "learners that play through a test client",
    "gnomon_board.worker": "one job at a time, without a process",
    "gnomon_board.jobs": "leases that end, and workers that die",
    "gnomon_board.web.limits": "limits as the time goes by, and turns of clients",
    "gnomon_board.studies.export": "games that differ in terms and palettes",
    "gnomon_board.web.middleware": "bodies that come slowly, by a clock of the test",
    "gnomon_board.web.server": "a server in a process of the test, and its socket",
    "gohr.execution": "workers that are killed or hang, without a run around them",
    "gohr.experiments.attempts": "bytes and columns of any trial, drawn by Hypothesis",
    "gohr.engine.boards": "attempts on many boards in one call",
    "gohr.engine.compiler": "the type of a compiled rule",
    "gohr.jax.tables": "tables of conditions, entry by entry",
    "gohr.jax.states": "an attempt of the kernel without the new board behind it",
    "gohr.learners.sb3": "what an algorithm is shown, where none is installed",
    "gohr.rules.expressions": "the arithmetic of conditions, value by value",
    "gohr.seeded_boards": "boards of the reference, seed by seed",
}


def stub_names(door: str) -> dict[str, str]:
    """Return the names that a stub offers, and the module that each comes from."""
    tree = ast.parse(Path(str(DOORS[door].__file__)).with_suffix(".pyi").read_text("utf-8"))
    return {
        alias.asname or alias.name: f"{door}.{node.module}" if node.module else door
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name != "__version__"
    }


STUBS = {door: stub_names(door) for door in DOORS}


@pytest.mark.parametrize("door", DOORS)
def test_each_name_is_there_and_documented(door):
    package = DOORS[door]
    assert set(STUBS[door]) == set(package.__all__) - {"__version__"}
    undocumented = [
        name
        for name in STUBS[door]
        if callable(thing := getattr(package, name)) and not inspect.getdoc(thing)
    ]
    assert not undocumented
    assert set(dir(package)) == set(package.__all__)


@pytest.mark.parametrize("door", DOORS)
def test_no_module_has_the_name_of_a_function_of_its_package(door):
    modules = {module.name for module in pkgutil.iter_modules(DOORS[door].__path__)}
    own = {name for name, source in STUBS[door].items() if source != door}
    assert not modules & own


@pytest.mark.parametrize("package", PACKAGES)
def test_the_docstring_of_a_package_lists_every_name(package):
    listed = set(re.findall(r"`(\w+)`", str(DOORS[package].__doc__)))
    assert set(STUBS[package]) <= listed


@pytest.mark.parametrize("package", PACKAGES)
def test_import_is_quick_and_loads_nothing_heavy(package):
    """The limit is 0.3 s for an import; a busy machine gets more."""
    code = (
        f"import time; start = time.perf_counter(); import {package}, sys\n"
        "print(time.perf_counter() - start)\n"
        "heavy = {'gymnasium', 'matplotlib', 'numba', 'numpy', 'polars', 'pydantic', 'rich'}\n"
        "heavy |= {'fastapi', 'scipy', 'sqlalchemy'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, heavy = said.stdout.splitlines()
    assert heavy == "[]"
    assert float(seconds) < 1.5


def is_public(module: str) -> bool:
    return module in NAMES or module in PLAIN or module in PACKAGES


def deep_imports(source: str) -> Iterator[tuple[str, str]]:
    """Yield each name that code imports from behind a door, with its module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            if node.module.partition(".")[0] in PACKAGES:
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    if is_module(whole) and not is_public(whole):
                        yield whole, ""
                    elif not is_module(whole) and not is_public(node.module):
                        yield node.module, alias.name
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] in PACKAGES and not is_public(alias.name):
                    yield alias.name, ""


def is_module(name: str) -> bool:
    package, *rest = name.split(".")
    place = SOURCES[package].joinpath(*rest)
    return place.with_suffix(".py").exists() or (place / "__init__.py").exists()


def examples() -> Iterator[tuple[str, str]]:
    """Yield the code that users read: of the README files, the pages and the notebooks."""
    readmes = [ROOT / "README.md", *ROOT.glob("packages/*/README.md")]
    for page in [*readmes, *sorted((ROOT / "docs").rglob("*.md"))]:
        if "decisions" not in page.parts:
            blocks = re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.S)
            for n, code in enumerate(blocks):
                yield f"{page.relative_to(ROOT)}, block {n + 1}", code
    for notebook in sorted((ROOT / "docs").rglob("*.ipynb")):
        for n, cell in enumerate(json.loads(notebook.read_text("utf-8"))["cells"]):
            if cell["cell_type"] == "code":
                yield f"{notebook.relative_to(ROOT)}, cell {n + 1}", "".join(cell["source"])


def test_examples_import_public_names_only():
    found = [
        f"{where}: {module} {name}"
        for where, code in examples()
        for module, name in deep_imports(code)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_only_the_doors_of_those_below(package):
    found = []
    for path in sorted((PACKAGES[package] / "src").rglob("*.py")):
        source = path.read_text("utf-8")
        where = path.relative_to(ROOT)
        found += [
            f"{where}: {module} {name}"
            for module, name in deep_imports(source)
            if module.partition(".")[0] != package and path.is_relative_to(SOURCES[package])
        ]
        above = set(PACKAGES) - BELOW[package] - {package}
        found += [
            f"{where}: imports {node.module}"
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.ImportFrom)
            and node.level == 0
            and (node.module or "").partition(".")[0] in above
        ]
    assert not found, "\n".join(found)


def test_tests_import_from_doors_only():
    folders = [ROOT / "tests", *(folder / "tests" for folder in PACKAGES.values())]
    found = [
        f"{path.relative_to(ROOT)}: {module} {name}"
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
        for module, name in deep_imports(path.read_text("utf-8"))
        if module not in EXCEPTIONS
    ]
    assert not found, "\n".join(found)


def test_the_packages_have_one_version_and_pin_each_other_exactly():
    import gnomon
    import gnomon_board
    import gohr

    assert gnomon.__version__ == gohr.__version__ == gnomon_board.__version__
    for package, folder in PACKAGES.items():
        project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
        pins = {f"{name}=={gnomon.__version__}" for name in BELOW[package]}
        assert pins <= set(project["dependencies"])
