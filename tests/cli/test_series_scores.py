"""``gnomon score`` of transcripts of people."""

from __future__ import annotations

import json
import re

from gnomon.experiments import load_suite
from recorded_people import our_player, write_player


def test_transcripts_are_scored_and_ranked(gnomon, tmp_path):
    for name in ("A01", "B02"):
        write_player(tmp_path / name, our_player(name))
    asked = ["A01", "B02", "--trial-lists", "A01/lists", "--rules", "A01/rules"]
    said = gnomon("score", "A01/transcripts", "A01/PlayerInfo.csv", "A01/Episode.csv", *asked[2:])
    assert said.status == 0
    assert "attempts; series of people, learned at 10 in a row" in said.out
    said = gnomon("score", "A01", *asked[2:], "--metric", "aai", "--p0", "mcp1", "--json")
    [row] = json.loads(said.out)["results"]
    assert row["algorithm"] == "A01"
    assert 0.5 < row["score"] < 1
    options = ["--target-streak", "3", "--target-r", "1000", "--prec-mode", "every-cond"]
    said = gnomon("score", "A01", *asked[2:], *options, "--as-reference", "--out", "people.csv")
    assert said.status == 0
    assert "as the reference system counts" in said.out
    assert gnomon("score", "people.csv").status == 0


def test_options_of_people_and_of_score_files_do_not_mix(gnomon, tmp_path):
    write_player(tmp_path / "A01", our_player())
    (tmp_path / "own.csv").write_text("algorithm,task,run,score\na,b,0,1\n")
    said = gnomon("score", "own.csv", "--target-streak", "3")
    assert said.status == 2
    assert "own.csv: expected transcripts of people, whose series such options as" in said.err
    said = gnomon("score", "nowhere", "--target-streak", "3")
    assert (said.status, "nowhere: expected transcripts of people; there is none" in said.err) == (
        2,
        True,
    )
    said = gnomon("score", "A01", "--trial-lists", "A01/lists", "--where", "a=b")
    assert said.status == 2
    assert "have no options of score files, such as --where" in said.err


def test_people_have_a_row_in_the_table_of_a_ladder(gnomon, tmp_path):
    rules = load_suite("gohr-induction").rungs["memory"]
    rows = [f"p{k},{rule},{k},0.125,skill" for rule in rules for k in range(2)]
    (tmp_path / "skills.csv").write_text("\n".join(["algorithm,task,run,score,metric", *rows, ""]))
    words = ["--learners", "uniform", "--trials", "1", "--episodes", "1", "--people", "skills.csv"]
    said = gnomon("run", "gohr-induction", *words, "--no-report", "--out", "ladder")
    assert re.search(r"people +- +- +- +0\.125 +- +- +- +-", said.out), said.out
    said = gnomon("run", "clockwise", *words, "--out", "one-rule")
    assert said.status == 2
    assert "--people: expected a suite with rungs, such as gohr-induction" in said.err
    (tmp_path / "skills.csv").write_text("algorithm,task,run,score\na,b,0,1\n")
    said = gnomon("run", "gohr-induction", *words, "--out", "other")
    assert (said.status, (tmp_path / "other").exists()) == (2, False)
    assert "skills.csv: expected skills, as gnomon score --metric skill writes them;" in said.err
