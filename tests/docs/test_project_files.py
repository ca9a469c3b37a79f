"""The files beside the package say what is so: contributing, citation, hooks, forms for issues."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import gnomon as gn

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_citation_is_of_this_version_by_its_authors():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["version"] == gn.__version__
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"]
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
    named = re.findall(r"\]\(([^)#:]+)[^)]*\)|`((?:src|tests|docs)/[^`]*)`", text)
    paths = {link or path for link, path in named}
    assert sorted(path for path in paths if not (ROOT / path).exists()) == []


def test_how_it_works_names_the_packages_that_are_there():
    text = (ROOT / "docs" / "how-it-works.md").read_text("utf-8")
    tree = text.partition("```text\nsrc/gnomon/\n")[2].partition("```")[0]
    told = set(re.findall(r"^  ([\w.]+)/? ", tree, flags=re.MULTILINE))
    source = ROOT / "src" / "gnomon"
    there = {path.parent.name for path in source.glob("*/__init__.py")}
    assert told == there | {"errors.py", "results.py"}
    for path in re.findall(r"`((?:\w+/)+(?:\w+\.py)?)`", text):
        assert (source / path).exists(), path


def test_a_test_file_that_cannot_be_imported_is_an_error(tmp_path):
    for name in ("conftest.py", "board_fixtures.py"):
        (tmp_path / name).write_text((ROOT / "tests" / name).read_text("utf-8"), "utf-8")
    (tmp_path / "test_broken.py").write_text("import no_such_module\n", "utf-8")
    words = ["-c", ROOT / "pyproject.toml", "--rootdir", tmp_path, "-p", "no:cacheprovider"]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *words, tmp_path], capture_output=True, text=True
    )
    assert ran.returncode == pytest.ExitCode.INTERRUPTED, ran.stdout
    assert "No module named 'no_such_module'" in ran.stdout
