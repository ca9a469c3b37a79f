"""``gnomon score`` of transcripts of people."""

from __future__ import annotations

import json

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
    said = gnomon("score", "A01", "--trial-lists", "A01/lists", "--where", "a=b")
    assert said.status == 2
    assert "have no options of score files, such as --where" in said.err
