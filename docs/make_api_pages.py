"""Pages of the API reference, made from the public names of each package while the site is built.

A hook of MkDocs and an extension of Griffe. A package with a stub (``__init__.pyi``) has a page: its
docstring, and the names in its ``__all__`` by kind. Each function and each class has a page of its
own, which mkdocstrings makes. A name that ``gnomon``, ``gohr`` or ``gnomon_board`` takes from one of
its subpackages is described there and only listed on the first page.
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
#: Headings of a package's page, in order.
KINDS = {
    griffe.Kind.MODULE: "Packages",
    griffe.Kind.FUNCTION: "Functions",
    griffe.Kind.CLASS: "Classes",
    griffe.Kind.ATTRIBUTE: "Constants",
    griffe.Kind.TYPE_ALIAS: "Types",
}
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


def page_of(package: str, name: str = "index") -> str:
    """Return where the page of a package, or of one of its functions, is below the docs."""
    top, *inner = package.split(".")
    return "/".join([PARTS[top], "api", *inner, f"{name}.md"])


def public_names(package: str) -> dict[str, griffe.Object]:
    """Return what is in ``__all__`` of a package, except names with an underscore, by name."""
    module = _found(package)
    names = [str(name) for name in module.exports or ()]
    return {name: _found(f"{package}.{name}") for name in names if not name.startswith("_")}


def _found(dotted: str) -> griffe.Object:
    found = modules()[dotted]
    return found.final_target if found.is_alias else found


@cache
def places() -> dict[str, str]:
    """Return under which public name each object is described, by where it is defined.

    An object that a package takes from one of its subpackages is described with the subpackage.
    """
    found = {}
    for package in packages():
        for name, obj in public_names(package).items():
            found[obj.path] = obj.path if obj.path in packages() else f"{package}.{name}"
    return found


def described(package: str) -> dict[str, griffe.Object]:
    """Return the public names that are described with this package and not with a subpackage."""
    offered = public_names(package)
    return {
        name: obj
        for name, obj in offered.items()
        if places()[obj.path] == f"{package}.{name}" and obj.path not in packages()
    }


def pages_of(package: str) -> dict[str, list[str]]:
    """Return the names on each page below that of a package: one function, class or module.

    A class whose name differs from that of a function only in its capitals is on the page of the
    function: not every file system can hold two such files.
    """
    kinds = {name: obj.kind for name, obj in described(package).items()}
    alone = (griffe.Kind.FUNCTION, griffe.Kind.MODULE)
    found = {name: [name] for name, kind in kinds.items() if kind in alone}
    for name, kind in kinds.items():
        if kind is griffe.Kind.CLASS:
            found.setdefault(name.lower() if name.lower() in found else name, []).append(name)
    return dict(sorted(found.items(), key=lambda page: page[0].lower()))


def overview(package: str) -> Iterator[str]:
    """Yield the paragraphs of a package's page: its names by kind; constants are described here."""
    yield f"# {package}"
    options = ("members", "show_root_heading", "show_root_toc_entry")
    yield f"::: {package}\n    options:" + "".join(f"\n      {name}: false" for name in options)
    offered = public_names(package)
    for kind, title in KINDS.items():
        named = {name: obj for name, obj in offered.items() if obj.kind is kind}
        rows = [f"| [`{name}`]{_link_to(obj)} | {_first(obj)} |" for name, obj in named.items()]
        if rows:
            yield f"## {title}"
            yield "\n".join(["| name | description |", "|---|---|", *rows])
    for name, obj in described(package).items():
        if obj.kind in (griffe.Kind.ATTRIBUTE, griffe.Kind.TYPE_ALIAS):
            yield f"::: {package}.{name}\n    options:\n      heading_level: 3"


def page(package: str, names: list[str]) -> str:
    """Return the page of a function, a class or a module."""
    blocks = [f"::: {package}.{name}" for name in names]
    return "\n\n".join(["---\nsearch:\n  boost: 0.5\n---", *blocks]) + "\n"


def _link_to(obj: griffe.Object) -> str:
    if obj.path in packages():
        return f"({obj.name}/index.md)"
    return f"[{places()[obj.path]}]"


def _first(obj: griffe.Object) -> str:
    text = obj.docstring.value.partition("\n\n")[0] if obj.docstring else obj.kind.value
    return " ".join(text.split()).replace("|", "\\|")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages into the navigation, at the end of the part of each package."""
    for part, folder in PARTS.items():
        [nav] = [p for one in config.nav or [] for p in one.values() if f"{folder}/index.md" in p]
        reference: list[Any] = []
        for package in packages():
            if package.partition(".")[0] == part:
                pages = [{name: page_of(package, name)} for name in pages_of(package)]
                reference.append({package: [page_of(package), *pages]})
        nav.append({"Python reference": reference})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages to those that are in the folder."""
    for package in packages():
        texts = {"index": "\n\n".join(overview(package)) + "\n"}
        texts |= {name: page(package, names) for name, names in pages_of(package).items()}
        for name, text in texts.items():
            files.append(File.generated(config, page_of(package, name), content=text))
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
