"""Public names: what each package's stub names is there, documented, loaded late, and used."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import gnomon

ROOT = Path(__file__).parents[1]
SOURCE = Path(gnomon.__file__).parents[1]
NAMES = [
    ".".join(stub.parent.relative_to(SOURCE).parts)
    for stub in sorted(SOURCE.glob("gnomon/**/__init__.pyi"))
]
#: The packages that declare what is public; the one in JAX where JAX is installed.
DOORS = {
    name: importlib.import_module(name)
    for name in NAMES
    if name != "gnomon.game.jax" or find_spec("jax")
}
#: Packages that can be called, see docs/decisions/011-public-names.md.
CALLABLE = {"gnomon.distill", "gnomon.report"}


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
def test_each_name_is_there_and_says_what_it_does(door):
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
def test_no_module_bears_the_name_of_a_function_of_its_package(door):
    modules = {module.name for module in pkgutil.iter_modules(DOORS[door].__path__)}
    own = {name for name, source in STUBS[door].items() if source != door}
    assert {f"{door}.{name}" for name in modules & own} <= CALLABLE


def test_packages_that_can_be_called_are_packages_and_can_be():
    for name in sorted(CALLABLE):
        package = importlib.import_module(name)
        verb = name.rpartition(".")[2]
        assert getattr(gnomon, verb) is package
        assert callable(package)
        assert inspect.isfunction(getattr(package, verb))


def test_the_docstring_tells_of_every_name():
    told = set(re.findall(r"`(\w+)`", str(gnomon.__doc__)))
    assert set(STUBS["gnomon"]) <= told


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="attribute prase"):
        gnomon.prase  # noqa: B018 - the look-up is the test


def test_import_is_quick_and_loads_nothing_heavy():
    """The promise is 0.3 s for `import gnomon`; a busy machine is given some more."""
    code = (
        "import time; start = time.perf_counter(); import gnomon, sys\n"
        "print(time.perf_counter() - start)\n"
        "heavy = {'gymnasium', 'matplotlib', 'numba', 'numpy', 'polars', 'pydantic', 'rich'}\n"
        "print(sorted((heavy | {'scipy'}) & set(sys.modules)))\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, heavy = said.stdout.splitlines()
    assert heavy == "[]"
    assert float(seconds) < 1.5


def deep_imports(source: str) -> Iterator[tuple[str, str]]:
    """Yield each module inside a package of public names from which code imports, and the name."""
    for node in ast.walk(ast.parse(source)):
        module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
        if (
            isinstance(node, ast.ImportFrom)
            and module.count(".") > 1
            and module.startswith("gnomon.")
        ):
            yield from ((module, alias.name) for alias in node.names)


def examples() -> Iterator[tuple[str, str]]:
    """Yield the code that users read: of the README, the pages and the notebooks."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        if "decisions" not in page.parts:
            for n, code in enumerate(
                re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.S)
            ):
                yield f"{page.relative_to(ROOT)}, block {n + 1}", code
    for notebook in sorted((ROOT / "docs").rglob("*.ipynb")):
        for n, cell in enumerate(json.loads(notebook.read_text("utf-8"))["cells"]):
            if cell["cell_type"] == "code":
                yield f"{notebook.relative_to(ROOT)}, cell {n + 1}", "".join(cell["source"])


def test_examples_import_public_names_only():
    found = [
        f"{where}: from {module} import {name}"
        for where, code in examples()
        for module, name in deep_imports(code)
    ]
    assert not found, "\n".join(found)


def test_tests_import_public_names_where_they_are_public():
    """A test may look inside; but what is public it takes from where users do."""
    public = {
        (source, name): door
        for door, names in STUBS.items()
        if door != "gnomon"
        for name, source in names.items()
    }
    found = [
        f"{path.relative_to(ROOT)}: take {name} from {public[module, name]}, not from {module}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for module, name in deep_imports(path.read_text("utf-8"))
        if (module, name) in public
    ]
    assert not found, "\n".join(found)
