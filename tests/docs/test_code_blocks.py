"""The code in README and docs runs as it stands there, and prints what it says.

A comment above a fenced block says what is done with it::

    <!-- run -->                 Python is run; of a console block, each line that begins with "$"
    <!-- file: my-rule.txt -->   the block is a file of that name
    <!-- output -->              what the last Python block prints
    <!-- not run: REASON -->     for the reader only

A page without such comments is for the reader only. One that says ``<!-- needs: jax -->`` is run
where that is installed, one that says ``<!-- data: scores/FILE -->`` where that file of published
scores is found, and one that says ``<!-- files of: README.md -->`` has the files of that page. The
blocks of a page run from top to bottom, in an empty folder and one
namespace. A console block shows its output between its commands; a command without output under it
may print what it likes. In expected output ``...`` stands for anything, and
output that begins with the name of the command, as ``gnomon:``, is that of one that fails. With
``run, about`` and ``output, about`` numbers need only be near: a processor that rounds differently
lets a learner play differently.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import math
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.full  # the code of every page is run

ROOT = Path(__file__).parents[2]
READMES = [ROOT / "README.md", *sorted(ROOT.glob("packages/*/README.md"))]
PAGES = [*READMES, *sorted((ROOT / "docs").rglob("*.md"))]
#: Published scores, which are not part of the repository.
DATA = Path(os.environ.get("GNOMON_DATA", ROOT / ".." / "shared" / "data")).resolve()
#: The commands that pages may run, and the package of each.
PROGRAMS = {"gnomon": "gnomon", "gohr": "gohr", "gnomon-board": "gnomon_board"}


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix().removeprefix("docs/")


_FENCE = re.compile(
    r"^(?:<!-- (?P<marker>[^>]*?) -->\n+)?```(?P<language>\w*)[^\n]*\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_NUMBER = re.compile(r"-?\b\d+(?:\.\d+)?\b")
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    where: str
    marker: str
    language: str
    body: str


def blocks_of(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in _FENCE.finditer(text):
        line = text.count("\n", 0, found.start("body"))
        name = page.relative_to(ROOT).as_posix()
        yield Block(f"{name}:{line}", found["marker"] or "", found["language"], found["body"])


def run_python(block: Block, namespace: dict[str, object]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("\n" + block.body, block.where, "exec"), namespace)
    return printed.getvalue()


def run_console(block: Block) -> None:
    parts = re.split(r"^\$ (.*)\n", block.body, flags=re.MULTILINE)
    for command, expected in zip(parts[1::2], parts[2::2], strict=True):
        program, *arguments = shlex.split(command, comments=True)
        assert program in PROGRAMS, f"{block.where}: {program} is not run"
        done = subprocess.run(
            [sys.executable, "-m", PROGRAMS[program], *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | {"COLUMNS": "200"},
        )
        allowed = (2,) if expected.startswith(f"{program}: ") else (0, 1)
        assert done.returncode in allowed, f"{block.where}: {command}\n{done.stdout}"
        if expected.strip():
            check(block, expected, done.stdout, command)


def check(block: Block, expected: str, found: str, command: str = "") -> None:
    wanted, got = expected, found
    if block.marker.endswith(", about"):
        wanted, got = _without_numbers(expected), _without_numbers(found)
    right = doctest.OutputChecker().check_output(wanted, got, _FLAGS)
    if right and wanted != expected and "..." not in expected:
        pairs = zip(_NUMBER.findall(expected), _NUMBER.findall(found), strict=True)
        right = all(math.isclose(float(a), float(b), rel_tol=0.3, abs_tol=0.1) for a, b in pairs)
    if not right:
        text = f"{block.where}: {command}\nexpected:\n{expected}\nfound:\n{found}"
        pytest.fail(text, pytrace=False)


def _without_numbers(text: str) -> str:
    return _NUMBER.sub("#", re.sub("─+", "─", text))


def play_page(page: Path) -> None:
    """Do what the markers of a page say, in the current folder."""
    namespace: dict[str, object] = {"__name__": "page"}
    printed = ""
    for other in re.findall(r"<!-- files of: (\S+) -->", page.read_text(encoding="utf-8")):
        for block in blocks_of(ROOT / other):
            if block.marker.startswith("file: "):
                Path(block.marker.removeprefix("file: ")).write_text(block.body, encoding="utf-8")
    for block in blocks_of(page):
        action, _, argument = block.marker.removesuffix(", about").partition(": ")
        if action == "file":
            Path(argument).write_text(block.body, encoding="utf-8")
        elif action == "output":
            check(block, block.body, printed)
        elif action == "run" and block.language == "python":
            printed = run_python(block, namespace)
        elif action == "run":
            run_console(block)


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any(b.marker.startswith("run") for b in blocks_of(page))],
    ids=name_of,
)
def test_the_code_of_a_page_runs_and_prints_what_the_page_says(page, tmp_path, monkeypatch):
    for name in re.findall(r"<!-- needs: (\w+) -->", page.read_text(encoding="utf-8")):
        pytest.importorskip(name, reason=f"{name} is not installed: the page is not run")
    for name in re.findall(r"<!-- data: (\S+) -->", page.read_text(encoding="utf-8")):
        if not (DATA / name).is_file():
            pytest.skip(f"the page reads {name}, which is not shipped and was not found")
        (tmp_path / Path(name).name).symlink_to(DATA / name)
    monkeypatch.chdir(tmp_path)
    play_page(page)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_of_a_page_with_markers_says_whether_it_is_run(page):
    known = re.compile(r"(run|output)(, about)?|file: \S+|not run: .+")
    blocks = list(blocks_of(page))
    for block in blocks if any(block.marker for block in blocks) else ():
        if block.language in ("python", "console", "toml"):
            assert known.fullmatch(block.marker), f"{block.where}: found {block.marker!r}"


def test_the_readme_the_first_tutorial_and_the_pages_on_measuring_are_run():
    run = [
        name_of(page) for page in PAGES if any(b.marker.startswith("run") for b in blocks_of(page))
    ]
    gnomon = {"README.md", "packages/gnomon/README.md", "gnomon/scores.md", "gnomon/statistics.md"}
    gohr = {f"gohr/{page}.md" for page in ("game", "write-a-learner", "experiments")}
    assert gnomon | gohr | {"gohr/tutorials/from-a-rule-to-a-report.md"} <= set(run)


def test_the_readme_has_one_command_to_install_and_two_to_work_on_it():
    readme = ROOT / "README.md"
    blocks = [b for b in blocks_of(readme) if b.marker.startswith("not run")]
    assert [b.body.split() for b in blocks] == [
        ["pip", "install", "gnomon"],
        ["make", "demo", "make", "test"],
    ]
    assert len(re.findall(r"\b(?:pip|uv|conda|apt(?:-get)?) \w+", readme.read_text("utf-8"))) == 1


def test_a_wrong_output_is_noticed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = ROOT / "wrong.md"
    text = "<!-- run -->\n\n```python\nprint(1)\n```\n\n<!-- output -->\n\n```text\n2\n```\n"
    monkeypatch.setattr(Path, "read_text", lambda self, encoding=None: text)
    with pytest.raises(pytest.fail.Exception, match=r"wrong\.md:\d+"):
        play_page(page)
