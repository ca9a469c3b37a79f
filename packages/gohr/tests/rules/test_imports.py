import ast
import sys
from pathlib import Path

import pytest

import gohr.rules

FILES = sorted(Path(gohr.rules.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_language_needs_the_standard_library_alone(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        else:
            continue
        for module in modules:
            root = module.split(".")[0]
            assert root in sys.stdlib_module_names or module.startswith(
                ("gnomon.errors", "gnomon.files", "gohr.errors", "gohr.rules", "lazy_loader")
            )
