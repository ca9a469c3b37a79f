"""The files beside the package say what is so: contributing, citation, hooks, forms for issues."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import gnomon as gn

ROOT = Path(__file__).parents[2]
PROJECTS = [
    tomllib.loads(path.read_text("utf-8"))["project"]
    for path in sorted(ROOT.glob("packages/*/pyproject.toml"))
]


def test_the_citation_is_of_this_version_by_its_authors():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["version"] == gn.__version__
    for project in PROJECTS:
        assert citation["license"] == project["license"]
        assert citation["authors"] == project["authors"]
    for paper in citation["references"]:
        assert paper["url"].removeprefix("https://arxiv.org/abs/") in str(paper["identifiers"])


def test_hooks_before_a_commit_fetch_nothing_and_do_what_make_does():
    text = (ROOT / ".pre-commit-config.yaml").read_text("utf-8")
    assert "://" not in text
    [local] = yaml.safe_load(text)["repos"]
    assert local["repo"] == "local"
    made = (ROOT / "Makefile").read_text("utf-8").replace("$(BIN)", ".venv/bin")
    for hook in local["hooks"]:
        assert hook["language"] == "system"
        command = hook["entry"].removesuffix(" --force-exclude")
        assert re.search(rf"^\t{re.escape(command)}\b", made, flags=re.MULTILINE), hook["id"]


def test_forms_for_issues_have_what_a_form_needs():
    folder = ROOT / ".github" / "ISSUE_TEMPLATE"
    forms = {path.name: yaml.safe_load(path.read_text("utf-8")) for path in folder.iterdir()}
    assert forms.pop("config.yml")["blank_issues_enabled"]
    for name, form in forms.items():
        assert form["name"], name
        assert form["description"], name
        ids = [field["id"] for field in form["body"]]
        assert len(ids) == len(set(ids)), name
        assert all(field["attributes"]["label"] for field in form["body"]), name


def test_contributing_names_what_is_there():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = re.findall(r"\]\(([^)#:]+)[^)]*\)|`((?:packages|tests|docs)/[^`]*)`", text)
    paths = {link or path for link, path in named}
    assert sorted(path for path in paths if not (ROOT / path).exists()) == []


def test_how_it_works_names_the_packages_that_are_there():
    text = (ROOT / "docs" / "how-it-works.md").read_text("utf-8")
    sources = sorted(ROOT.glob("packages/*/src/g*[!s]/"))
    for source in sources:
        tree = text.partition(f"{source.relative_to(ROOT).as_posix()}/\n")[2]
        tree = re.split(r"\n\n|```", tree)[0]
        told = set(re.findall(r"^  ([\w.]+)/? ", tree, flags=re.MULTILINE))
        folders = {path.parent.name for path in source.glob("*/__init__.py")}
        assert told == folders | {path.name for path in source.glob("[!_]*.py")}, source
    for path in re.findall(r"`((?:\w+/)+(?:\w+\.py)?)`", text):
        assert any((source / path).exists() for source in sources), path


def test_a_test_file_that_cannot_be_imported_is_an_error(tmp_path):
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text("utf-8"), "utf-8")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_broken.py").write_text("import no_such_module\n", "utf-8")
    plugins = str(ROOT / "packages" / "gnomon-board" / "tests")
    places = os.environ | {"PYTHONPATH": os.pathsep.join([plugins, *sys.path])}
    words = ["-c", ROOT / "pyproject.toml", "--rootdir", tmp_path, "-p", "no:cacheprovider"]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *words, tmp_path],
        capture_output=True,
        text=True,
        env=places,
    )
    assert ran.returncode == pytest.ExitCode.INTERRUPTED, ran.stdout
    assert "No module named 'no_such_module'" in ran.stdout
