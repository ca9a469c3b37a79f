"""Pages of the tutorials, made from their notebooks while the site is built: executed, then Markdown.

A hook of MkDocs. The repository holds no outputs, so what a page shows was computed by this build. A
cell that raises ends the build.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from nbconvert import MarkdownExporter
from nbconvert.preprocessors import ExecutePreprocessor

SECONDS = 180  # that one cell may take
#: A warning as Python prints it: where in this machine's files it was raised is nobody's concern.
_WARNING = re.compile(r"^\S+\.py:\d+: (\w+: .*)\n(?:  .*\n)?", re.MULTILINE)


def executed(path: Path) -> nbformat.NotebookNode:
    """Return a notebook with the outputs of its cells, run in an empty folder."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        runner = ExecutePreprocessor(timeout=SECONDS, kernel_name="python3")
        runner.preprocess(notebook, {"metadata": {"path": folder}})
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if output.get("name") == "stderr":
                output.text = _WARNING.sub(r"\1\n", output.text)
    return notebook


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each notebook, with its pictures; the notebook itself is kept as a file."""
    docs = Path(config.docs_dir)
    for path in sorted(docs.rglob("*.ipynb")):
        place = path.relative_to(docs)
        text, resources = MarkdownExporter().from_notebook_node(
            executed(path), {"unique_key": place.stem}
        )
        text = re.sub(r"\]\(([\w./-]+)\.ipynb", r"](\1.md", text)  # from page to page
        link = f"\n\n[This page as a notebook]({place.name})\n"
        page = place.with_suffix(".md").as_posix()
        files.append(File.generated(config, page, content=text + link))
        for name, picture in resources["outputs"].items():
            at = place.with_name(name).as_posix()
            files.append(File.generated(config, at, content=picture))
    return files
