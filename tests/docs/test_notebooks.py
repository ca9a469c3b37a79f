"""The notebooks run from top to bottom, hold no outputs, and import a package by its short name."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
NOTEBOOKS = sorted(DOCS.rglob("*.ipynb"))
ids = [path.stem for path in NOTEBOOKS]


def cells_of(path: Path, kind: str) -> list[str]:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == kind]


def run_cell(source: str, where: str, namespace: dict[str, Any]) -> None:
    """Run a cell; what its last line is worth is shown, as a notebook shows it."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, where, "exec"), namespace)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), where, "eval"), namespace)
        shown = [getattr(value, way, str)() for way in ("_repr_html_", "_repr_svg_", "__str__")]
        assert value is None or any(shown), where


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=ids)
def test_a_notebook_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    namespace: dict[str, Any] = {"__name__": "notebook"}
    for number, source in enumerate(cells_of(path, "code"), 1):
        with contextlib.redirect_stdout(io.StringIO()):
            run_cell(source, f"{path.stem}, cell {number}", namespace)


def test_notebooks_hold_no_outputs():
    for path in NOTEBOOKS:
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            assert not cell.get("outputs"), path.name
            assert cell.get("execution_count") is None, path.name


def test_notebooks_import_a_package_by_its_short_name():
    for path in NOTEBOOKS:
        text = "\n".join(cells_of(path, "code"))
        assert re.search("^import (gnomon as gn|gohr)$", text, flags=re.M), path.name


def test_each_of_the_ten_jobs_takes_at_most_six_lines():
    path = DOCS / "gnomon" / "tutorials" / "ten-jobs.ipynb"
    jobs = re.findall(r"^## \d+\. (\w+)", "\n".join(cells_of(path, "markdown")), flags=re.M)
    wanted = "Read Normalise Estimate Compare Profile Curves Rank Audit Distil Report"
    assert jobs == wanted.split()
    first, *cells = cells_of(path, "code")
    assert all(line.startswith("import ") for line in first.split("\n") if line)
    assert len(cells) == len(jobs)
    assert [cell for cell in cells if len(cell.splitlines()) > 6] == []


def test_links_of_notebooks_lead_somewhere():
    for path in NOTEBOOKS:
        for link in re.findall(r"\]\(([^)\s#]+)[^)]*\)", "\n".join(cells_of(path, "markdown"))):
            made = link.endswith("commands.md") or "/api/" in link
            there = made or (path.parent / link).exists()
            assert re.match(r"[a-z]+:", link) or there, f"{path}: {link}"
