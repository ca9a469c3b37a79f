"""The verbs of people's series: what they print, write and refuse."""

from __future__ import annotations

import json
import shlex

import pytest
from typer.testing import CliRunner

from gnomon.cli import app
from recorded_people import our_player, write_player


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    return write_player(folder, our_player())


def call(command, folder):
    where = f" {folder} --trial-lists {folder}/lists --rules {folder}/rules --target-streak 3"
    verb, _, options = command.partition(" ")
    return CliRunner().invoke(app, [verb, *shlex.split(f"{where} {options}")])


def test_mastery_of_transcripts_and_of_the_table_they_make(folder, tmp_path):
    said = call("mastery --json", folder)
    [one] = json.loads(said.stdout)["results"]
    assert (one["task"], one["n_learned"], one["median"]) == ("hue", 1, 4)
    made = call(f"score --series-table {tmp_path}/s.csv --by people --json", folder)
    assert json.loads(made.stdout)["results"][0]["algorithm"] == "people"
    assert "0:0.25:4.0;1:0.25:4.0" in (tmp_path / "s.csv").read_text()
    again = CliRunner().invoke(
        app, ["mastery", f"{tmp_path}/s.csv", "--json", "--tables", f"{tmp_path}/out"]
    )
    assert json.loads(again.stdout)["results"] == [one]
    pooled = CliRunner().invoke(app, ["score", f"{tmp_path}/s.csv", "--by", "people", "--json"])
    assert json.loads(pooled.stdout)["results"][0]["algorithm"] == "people"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "ranking.csv", "ratio-wm.csv", "raw-wm.csv",
    ]  # fmt: skip


def test_series_curves_print_medians_and_draw(folder, tmp_path):
    said = call(
        f"series-curves --curve errors --axis attempts --figure {tmp_path}/c.svg --json", folder
    )
    points = json.loads(said.stdout)["results"]
    assert list(points[0]) == ["rule", "metric", "step", "n", "value", "low", "high", "after"]
    assert [point["value"] for point in points] == [0, 1, 1, 2, 3, 3, 3, 3, 3]
    assert (tmp_path / "c.svg").read_text().startswith("<?xml")
    (tmp_path / "empty").mkdir()
    refused = CliRunner().invoke(app, ["series-curves", f"{tmp_path}/empty"])
    assert "expected transcripts of people; found none" in str(refused.exception)
