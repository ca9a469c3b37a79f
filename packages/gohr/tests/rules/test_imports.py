import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import gohr.rules

FILES = sorted(Path(gohr.rules.__file__).parent.glob("*.py"))
#: What imports the standard library alone; NumPy only to make a generator of a seed.
OURS = ("gnomon.errors", "gnomon.text_files", "gnomon.results", "gohr.errors", "gohr.rules")


def needed(node: ast.AST) -> Iterator[str]:
    """Yield the modules that code imports where it runs, so not those for types alone."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.ImportFrom):
        yield node.module or ""
    elif isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    for child in ast.iter_child_nodes(node):
        yield from needed(child)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_language_needs_the_standard_library_alone(path: Path) -> None:
    for module in needed(ast.parse(path.read_text())):
        is_standard = module.split(".")[0] in sys.stdlib_module_names
        assert is_standard or module.startswith((*OURS, "lazy_loader")), module
