"""Links lead somewhere, pictures are there, and no page knows the machine it was made on."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
READMES = [ROOT / "README.md", *sorted(ROOT.glob("packages/*/README.md"))]
PAGES = [*READMES, ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]
#: Pages that the build makes of the commands.
COMMANDS = [DOCS / part / "commands.md" for part in ("gnomon", "gohr", "board")]


def without_code(text: str) -> str:
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors_of(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as Python-Markdown makes them."""
    notebook = page.with_suffix(".ipynb")
    if notebook.exists():
        cells = json.loads(notebook.read_text("utf-8"))["cells"]
        text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    else:
        text = page.read_text("utf-8")
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    anchors = set()
    for heading in re.findall(r"^#+ +(.*)$", text, flags=re.MULTILINE):
        plain = unicodedata.normalize("NFKD", heading.replace("`", ""))
        plain = plain.encode("ascii", "ignore").decode()
        anchors.add(re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower()))
    return anchors


def links_of(page: Path) -> list[str]:
    text = without_code(page.read_text("utf-8"))
    found = re.findall(r"\]\(([^)\s]+)[^)]*\)", text) + re.findall(r'(?:src|href)="([^"]+)"', text)
    return [link for link in found if not re.match(r"[a-z]+:", link)]


def is_there(target: Path) -> bool:
    """Return whether a file is there, or a page that the build makes of a package or a notebook."""
    made = target.parent.name == "api" or target.with_suffix(".ipynb").exists()
    made |= target in COMMANDS
    return target.exists() or (target.suffix == ".md" and made)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_internal_links_resolve(page):
    for link in links_of(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert is_there(target), f"{page.name}: {link}"
        if DOCS in page.parents:
            assert DOCS in target.parents, f"{page.name}: {link} leaves the site"
        if anchor and target not in COMMANDS:
            assert anchor in anchors_of(target), f"{page.name}: {link}"


def test_every_page_is_in_the_navigation():
    nav = (ROOT / "mkdocs.yml").read_text("utf-8").split("\nnav:\n")[1]
    listed = set(re.findall(r"[\w/-]+\.md", nav))
    pages = [*DOCS.rglob("*.md"), *(book.with_suffix(".md") for book in DOCS.rglob("*.ipynb"))]
    assert listed == {page.relative_to(DOCS).as_posix() for page in [*pages, *COMMANDS]}


def test_no_page_names_a_path_or_an_address_of_one_machine():
    files = [ROOT / "mkdocs.yml", *PAGES, *DOCS.rglob("*.py"), *DOCS.rglob("*.svg")]
    machine = re.compile(r"(?<![\w.])/(?:home|root|tmp|work|usr|opt|mnt|Users)/|localhost")
    assert [file.name for file in files if machine.search(file.read_text("utf-8"))] == []


@pytest.mark.parametrize("picture", sorted(DOCS.rglob("*.svg")), ids=lambda path: path.name)
def test_drawings_are_small(picture):
    assert picture.stat().st_size < 200_000


def test_the_pictures_of_the_first_pages_are_there_and_small():
    first = {"answer.png": ROOT / "README.md", "report.png": DOCS / "gohr" / "index.md"}
    for name, page in first.items():
        assert (DOCS / "images" / name).stat().st_size < 400_000, name
        assert f"images/{name}" in page.read_text("utf-8"), name


def test_pictures_of_the_site_are_written_in_markdown():
    # MkDocs rewrites these addresses for the built page, and checks them; not those of raw HTML.
    raw = re.compile(r"<img[^>]*src=\"(?!https?:|data:)")
    pages = [
        page for page in DOCS.rglob("*.md") if raw.search(without_code(page.read_text("utf-8")))
    ]
    assert pages == []
