"""Pages of the API reference, made from the public names of each package while the site is built.

A hook of MkDocs and an extension of Griffe. A package with a stub (``__init__.pyi``) has a page: its
docstring, a table of the names in its ``__all__``, and what mkdocstrings makes of each. A name that
``gnomon``, ``gohr`` or ``gnomon_board`` takes from one of its subpackages is described there and
only listed on the first page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
#: The folder of the docs for each package, and where its source is.
PARTS = {"gnomon": "gnomon", "gohr": "gohr", "gnomon_board": "board"}
SOURCES = {name: ROOT / "packages" / name.replace("_", "-") / "src" for name in PARTS}
#: A term of a list in a module's docstring, with the indented text below it.
_TERM = re.compile(r"^(\S[^\n]*)\n {4}(?=\S)", re.MULTILINE)
_ROLE = re.compile(r":(?:py:)?(\w+):`(~?)([\w.]+)`")


@cache
def modules() -> griffe.ModulesCollection:
    """Return what Griffe knows of the three packages, without running them."""
    extensions = griffe.load_extensions(Docs)
    loader = griffe.GriffeLoader(search_paths=[*SOURCES.values()], extensions=extensions)
    for package in PARTS:
        loader.load(package)
    return loader.modules_collection


@cache
def packages() -> list[str]:
    """Return the dotted names of the packages that declare what is public, each before its own."""
    return [
        ".".join(stub.parent.relative_to(source).parts)
        for name, source in SOURCES.items()
        for stub in sorted((source / name).rglob("__init__.pyi"))
    ]


def page_of(package: str) -> str:
    """Return where the page of a package is, below the docs."""
    top, _, inner = package.partition(".")
    return f"{PARTS[top]}/api/{inner or 'index'}.md"


def public_names(package: str) -> dict[str, griffe.Object]:
    """Return what is in ``__all__`` of a package, save names with an underscore, by name."""
    module = _found(package)
    names = [str(name) for name in module.exports or ()]
    return {name: _found(f"{package}.{name}") for name in names if not name.startswith("_")}


def _found(dotted: str) -> griffe.Object:
    found = modules()[dotted]
    return found.final_target if found.is_alias else found


@cache
def places() -> dict[str, str]:
    """Return under which public name each object is described, by where it is defined."""
    found = {}
    for package in packages():
        for name, obj in public_names(package).items():
            found[obj.path] = obj.path if obj.path in packages() else f"{package}.{name}"
    return (
        found  # a subpackage comes after its package: what both offer is described with the former
    )


def page(package: str) -> Iterator[str]:
    """Yield the paragraphs of a package's page."""
    yield f"# {package}"
    options = ("members", "show_root_heading", "show_root_toc_entry")
    yield f"::: {package}\n    options:" + "".join(f"\n      {name}: false" for name in options)
    offered = public_names(package)
    rows = [f"| [`{name}`]{_link_to(obj)} | {_first(obj)} |" for name, obj in offered.items()]
    yield "\n".join(["| name | what it is |", "|---|---|", *rows])
    for name, obj in offered.items():
        if places()[obj.path] == f"{package}.{name}" and obj.path not in packages():
            yield f"::: {package}.{name}"


def _link_to(obj: griffe.Object) -> str:
    if obj.path in packages():
        return f"({Path(page_of(obj.path)).name})"
    return f"[{places()[obj.path]}]"


def _first(obj: griffe.Object) -> str:
    text = obj.docstring.value.partition("\n\n")[0] if obj.docstring else obj.kind.value
    return " ".join(text.split()).replace("|", "\\|")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages into the navigation, at the end of the part of each package."""
    for package, folder in PARTS.items():
        [part] = [p for one in config.nav or [] for p in one.values() if f"{folder}/index.md" in p]
        own = [name for name in packages() if name.partition(".")[0] == package]
        part.append({"Python reference": [{name: page_of(name)} for name in own]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages to those that are in the folder."""
    for package in packages():
        text = "\n\n".join(page(package)) + "\n"
        files.append(File.generated(config, page_of(package), content=text))
    return files


class Docs(griffe.Extension):
    """What docstrings of this project have and Griffe does not read: roles, and ``#:`` comments."""

    def on_attribute_instance(self, *, attr: griffe.Attribute, **others: Any) -> None:
        """Take the lines ``#:`` above a constant as its docstring."""
        if attr.docstring or attr.lineno is None or not isinstance(attr.filepath, Path):
            return
        above = attr.filepath.read_text("utf-8").splitlines()[: attr.lineno - 1]
        lines: list[str] = []
        while above and (comment := re.match(r"\s*#: ?(.*)", above.pop())):
            lines.insert(0, comment[1])
        if lines:
            attr.docstring = griffe.Docstring("\n".join(lines), parent=attr)

    def on_instance(self, *, obj: griffe.Object, **others: Any) -> None:
        """Make each role, such as ``:func:`name```, a link to what it names, if that has a place."""
        if obj.docstring and obj.is_module:
            obj.docstring.value = _TERM.sub(r"\n\1\n:   ", obj.docstring.value)
        if obj.docstring:
            obj.docstring.value = _ROLE.sub(partial(_link, obj), obj.docstring.value)


def _link(obj: griffe.Object, role: re.Match[str]) -> str:
    kind, short, name = role.groups()
    full = name.partition(".")[0] in PARTS
    shown = name.rpartition(".")[2] if short else name
    scope = obj.module.path
    if kind in ("meth", "attr") and "." not in name:
        scope = obj.path if obj.is_class or obj.parent is None else obj.parent.path
    at = name if full else f"{scope}.{name}"
    return f'<autoref optional identifier="{at}"><code>{shown}</code></autoref>'
