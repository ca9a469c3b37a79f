"""Result files and transcripts: what is written reads back, and what is wrong is named."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import pytest

from captive_play import CLOCKWISE, session_of
from gnomon.errors import GnomonError, ScoreDataError, UnknownNameError
from gnomon.scores import ScoreTable, read_scores

LONG = "#nickname,rule_name,trial_id,board_id,number_of_pieces,number_of_moves,move_acc,if_clear\n"
COMPACT = "#.nickname,rule_name,trial_id\n#number_of_moves,number_of_errors,if_clear\n"
TRANSCRIPT = (
    "#playerId,trialListId,seriesNo,ruleId,episodeNo,episodeId,moveNo,timestamp,mover,"
    "reactionTime,objectType,objectId,y,x,bucketId,by,bx,code,objectCnt\n"
)


def read_log(path: str | Path, metric: str = "tce") -> ScoreTable:
    return read_scores(path, format="game-log", metric=metric)


def errors_of(path: str | Path) -> dict[tuple[str, str, str], list[int]]:
    """Return the errors of each episode of the runs of a file."""
    rows = read_log(path, "errors_per_episode").to_polars().sort("step")
    runs = rows.partition_by("algorithm", "task", "run", as_dict=True, maintain_order=True)
    return {run: episodes["score"].to_list() for run, episodes in runs.items()}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cw.txt").write_text(CLOCKWISE)
    return tmp_path


def played(run: int, *options: str, n_episodes: int = 12) -> list[int]:
    """Play at random with a log; return the errors of each episode."""
    session = session_of("cw.txt", "3", f"seed={run + 1}", "log.nickname=me",
                         f"log.run={run}", *options)  # fmt: skip
    rng = random.Random(run)
    session.start()
    errors = []
    for episode in range(n_episodes):
        if episode:
            session.answer("NEW")
        errors.append(0)
        finish = "0"
        while finish == "0" and (episode < n_episodes - 1 or errors[-1] == 0):
            move = f"MOVE {rng.randrange(3)} {rng.randrange(4)}"
            code, finish, _ = session.answer(move)[0].split()
            errors[-1] += code in "47"
    session.close()
    return errors


@pytest.mark.parametrize("form", ["Long", "Compact"])
def test_result_files_read_back(folder, form):
    options = (f"log.format={form}",)
    expected = [played(0, "log=r.csv", *options)]
    for run in (1, 2):
        expected.append(played(run, "logappend=r.csv", *options))
    assert errors_of("r.csv") == {("me", "cw", f"cw {i}"): expected[i] for i in range(3)}
    # One header in each file, whatever was appended.
    assert Path("r.csv").read_text().count("#") == (1 if form == "Long" else 2)


def test_log_begins_a_new_file_and_logappend_goes_on(folder):
    played(0, "log=r.csv", n_episodes=2)
    played(1, "log=r.csv", n_episodes=2)
    assert list(errors_of("r.csv")) == [("me", "cw", "cw 1")]
    with pytest.raises(GnomonError, match=r"no/r\.csv: cannot write this file"):
        played(0, "log=no/r.csv")


def test_scores(folder):
    errors = [played(run, "logappend=r.csv") for run in range(3)]
    table = read_log("r.csv")
    assert (table.metric, table.unit, table.higher_is_better) == ("tce", "errors", False)
    assert table.runs("me", "cw").tolist() == [sum(run) for run in errors]
    steps, curves = read_log("r.csv", "cumulated_errors").curves("me", "cw")
    assert steps.tolist() == list(range(1, 13))
    assert curves.tolist() == np.cumsum(errors, axis=1).tolist()
    assert read_log("r.csv", "errors_to_learn").runs("me", "cw").tolist() == [np.inf] * 3
    with pytest.raises(UnknownNameError, match="unknown metric 'tcee'; did you mean 'tce'"):
        read_log("r.csv", "tcee")


def test_errors_to_learn_of_a_learned_rule(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text(COMPACT + ".a,r,0\n12,3,1\n9,0,1\n10,1,1\n" + "9,0,1\n" * 10 + "20,11,1\n")
    assert read_log(path, "errors_to_learn").runs("a", "r").tolist() == [4]
    assert read_log(path, "learned").runs("a", "r").tolist() == [1]
    # An episode that was not cleared breaks a streak.
    path.write_text(COMPACT + ".a,r,0\n" + "9,0,1\n" * 9 + "4,0,0\n" + "9,0,1\n" * 9)
    assert read_log(path, "learned").runs("a", "r").tolist() == [0]
    # A run without an episode has no score.
    path.write_text(COMPACT + ".a,r,0\n.b,r,0\n9,0,1\n")
    assert read_log(path).algorithms == ("b",)


def test_the_score_verb_reads_them(folder, command):
    errors = played(5, "log=r.csv", "log.format=Compact")
    (folder / "long.csv").write_text(LONG + "you,cw,3,0,2,3,0.3333333333333333,0\n")
    for file, expected in {
        "r.csv": ("me", "cw 5", sum(errors)),
        "long.csv": ("you", "cw 3", 2),
    }.items():
        (row,) = command(f"gohr score {file} --json").results
        assert (row["algorithm"], row["run"], row["score"]) == expected
        assert row["task"] == "cw"


def test_files_put_together(tmp_path):
    """Headers in the middle, several players, in any order of runs."""
    path = tmp_path / "r.csv"
    path.write_text(
        LONG + "a,r,0,0,2,2,1.0,1\nb,r,0,0,2,4,0.5,1\n" + LONG + "a,r,0,1,2,8,0.25,1\n\n"
    )
    assert errors_of(path) == {("a", "r", "r 0"): [0, 6], ("b", "r", "r 0"): [2]}


def move(episode, number, code, left, *, player="p", series=0, rule="r", bucket="1,7,7", eid=None):
    eid = eid or f"E{series}{episode}"
    return (
        f"{player},list,{series},{rule},{episode},{eid},{number},20250101-101010.123,0,1.25,"
        f"RED_STAR,0,6,1,{bucket},{code},{left}\n"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n", "expected the header of a Long or Compact result file or of a transcript"),
        ("", "expected the header"),
        (LONG, "expected at least one episode; found none"),
        (LONG + "a,r,0,0,2,2,1.0\n", "row 2: expected 8 fields, found 7"),
        (LONG + ",r,0,0,2,2,1.0,1\n", "row 2, column 'nickname': expected a name, found ''"),
        (LONG + "a,,0,0,2,2,1.0,1\n", "row 2, column 'rule_name': expected a name, found ''"),
        (LONG + "a,r,x,0,2,2,1.0,1\n", "column 'trial_id': expected a whole number, found 'x'"),
        (LONG + "a,r,-1,0,2,2,1.0,1\n", "column 'trial_id': expected a number from 0, found '-1'"),
        (LONG + "a,r,0,1,2,2,1.0,1\n", "column 'board_id': expected 0, the next of run 0"),
        (LONG + "a,r,0,0,2,2,1.0,1\n" * 2, "row 3, column 'board_id': expected 1, the next"),
        (LONG + "a,r,0,0,0,2,1.0,1\n", "column 'number_of_pieces': expected 1 to 36, found '0'"),
        (LONG + "a,r,0,0,2,2.5,1.0,1\n", "column 'number_of_moves': expected a whole number"),
        (LONG + "a,r,0,0,2,2,1.5,1\n", "column 'move_acc': expected a fraction of 2 moves"),
        (LONG + "a,r,0,0,2,2,nan,1\n", "'move_acc': expected a number from 0 to 1, found 'nan'"),
        (LONG + "a,r,0,0,2,4,0.3,0\n", "column 'move_acc': expected a fraction of 4 moves"),
        (LONG + "a,r,0,0,3,4,0.5,1\n", "column 'move_acc': expected 3 accepted moves"),
        (LONG + "a,r,0,0,1,4,0.5,0\n", "expected a fraction of 4 moves with 1 pieces"),
        (LONG + "a,r,0,0,2,2,1.0,2\n", "column 'if_clear': expected 0 to 1, found '2'"),
        (COMPACT + "3,1,1\n", "row 3: expected the line of a run"),
        (COMPACT + ".a,r\n", "row 3: expected 3 fields, found 2"),
        (COMPACT + ".a,r,0\n3,4,1\n", "row 4, column 'number_of_errors': expected 0 to 3"),
        (COMPACT + ".a,r,0\n3,1,1\n.a,r,0\n", "row 5, column 'trial_id': expected a number"),
        (TRANSCRIPT + "p\n", "row 2: expected 19 fields, found 1"),
        (TRANSCRIPT + move(0, 1, 4, 3), "column 'moveNo': expected 0, the next of its episode"),
        (TRANSCRIPT + move(0, 0, 4, 37), "column 'objectCnt': expected 0 to 36, found '37'"),
        (TRANSCRIPT + move(0, 0, "x", 3), "column 'code': expected a whole number, found 'x'"),
        (TRANSCRIPT + move(0, 0, 4, 3, bucket="0,7,7"), "'bucketId': expected the bucket at"),
        (TRANSCRIPT + move(0, 0, 4, 3, bucket="4,7,7"), "column 'bucketId': expected 0 to 3"),
        (TRANSCRIPT + move(0, 0, 4, 3, bucket="1,9,7"), "column 'by': expected 0 to 7, found '9'"),
        (TRANSCRIPT + move(0, 0, 4, 3, rule=""), "column 'ruleId': expected a name"),
        (TRANSCRIPT + move(0, 0, 4, 3, series=""), "column 'seriesNo': expected a whole number"),
        (
            TRANSCRIPT + move(0, 0, 4, 3) + move(0, 0, 4, 3, eid="F"),
            "expected one episode 0 in a series; found E00 and F",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(tmp_path, text, message):
    path = tmp_path / "r.csv"
    path.write_text(text)
    with pytest.raises(ScoreDataError, match=re.escape(message)) as caught:
        read_log(path)
    assert str(caught.value).startswith(str(path))


def test_files_that_are_no_text(tmp_path):
    path = tmp_path / "r.csv"
    with pytest.raises(ScoreDataError, match="cannot read this file"):
        read_log(path)
    path.write_bytes(b"#\xff\n")
    with pytest.raises(ScoreDataError, match="found byte 0xff at offset 1"):
        read_log(path)


# Printed by Java 17.
@pytest.mark.parametrize(
    ("attempts", "text"),
    [
        (3, "0.3333333333333333"),
        (1, "1.0"),
        (1000, "0.001"),
        (2000, "5.0E-4"),
        (7777, "1.2858428700012858E-4"),
    ],
)
def test_fractions_as_java_prints_them(folder, attempts, text):
    (folder / "zero.txt").write_text("(*,*,*,*,0)\n")
    session = session_of("zero.txt", "1", "log=r.csv", "log.nickname=me", "log.run=0")
    session.start()
    for _ in range(attempts - 1):
        session.answer("MOVE 0 1")
    session.answer("MOVE 0 0")
    session.close()
    assert Path("r.csv").read_text().splitlines()[1].split(",")[6] == text
