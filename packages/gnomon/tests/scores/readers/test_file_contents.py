"""Comma- and tab-separated files: what is read, and where each fault is told to be."""

from __future__ import annotations

import pytest

from gnomon.errors import ScoreDataError
from gnomon.scores import read_scores
from score_files import written

HEADER = "algorithm,task,run,score\n"
GOOD = HEADER + "a,t,0,1\na,t,1,2\n"


def read(tmp_path, content, name="scores.csv"):
    return read_scores(written(tmp_path / name, content))


@pytest.mark.parametrize(
    "content",
    [
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n", "\r"),
        "\ufeff" + GOOD,
        '\n,,,\n"",""\n' + GOOD + "\n,,,\n\n",
        GOOD.replace("a,t,1", "\na,t,1"),
        GOOD.replace("a,", '"a",'),
        GOOD.removesuffix("\n"),
        "".join(f",{line}\n" for line in GOOD.splitlines()),  # pandas' index without a name
        GOOD.replace(",score", ", score "),
    ],
    ids=["crlf", "cr", "bom", "empty-rows", "blank-line", "quotes", "no-end", "index", "blanks"],
)  # fmt: skip
def test_the_same_scores_however_they_are_written(tmp_path, content):
    table = read(tmp_path, content)
    assert table.to_polars().columns == ["algorithm", "task", "run", "score"]
    assert table.to_polars().rows() == [("a", "t", 0, 1.0), ("a", "t", 1, 2.0)]


def test_names_in_quotes_may_hold_commas_quotes_and_line_breaks(tmp_path):
    table = read(tmp_path, HEADER + '"a, ""b""\nc",t,0,1\n')
    assert table.algorithms == ('a, "b"\nc',)


FAULTS = [
    ("", ": expected a table with a header line, found none"),
    ("\n\n", ": expected a table with a header line, found none"),
    (HEADER, ": expected rows of scores, found none"),
    (HEADER + ",,,\n,,,\n", ": expected rows of scores, found none"),
    (
        "algorithm,task,run,score,score\na,t,0,1,2\n",
        ", line 1: expected columns of different names, found 'score' twice",
    ),
    (GOOD + "a,t,2\n", ", line 4: expected 4 fields, found 3"),
    (GOOD + "a,t,2,3,4\na,t,3\n", ", line 4: expected 4 fields, found 5"),
    (HEADER + 'a,t,0,1\n"a,t,1,2\na,t,2,3\n', ", line 3: expected a closing '\"', found none"),
    (GOOD.replace(",", ";") + "a;t;2\n", ", line 4: expected 4 fields, found 3"),
    (
        HEADER.replace(",", ";") + "a;t;0;1,5\n",
        ", line 2, column 'score': expected a number, found '1,5': write a point for a decimal",
    ),
    (
        (HEADER + "a,t,0,1\ncaf\xe9,t,0,2\n").encode("latin-1"),
        ", line 3: expected UTF-8 text, found",
    ),
    (HEADER + '"a\nb",t,0,1\n\n"a\nb",t,1,x\n', ", line 5, column 'score': expected a number"),
    ("\n,,,\n" + HEADER + "a,t,0,x\n", ", line 4, column 'score': expected a number, found 'x'"),
    (HEADER + "a" * 5000 + ",t,0,1\n", ", line 2, column 'algorithm': expected a name of at most"),
    (HEADER + "a,t,0,\na,t,1,\n", ": column 'score': all 2 scores are empty"),
    (HEADER + "a,t,0,1\na,t,1,n.a.\n", ", line 3, column 'score': expected a number, found 'n.a."),
    (HEADER + "a,t,0," + "x" * 10**6 + "\n", ", line 2, column 'score': expected a number, found"),
    (GOOD + '"' + "a" * 10**6 + "\n", ", line 4: expected a closing '\"', found none"),
]


@pytest.mark.parametrize(("content", "message"), FAULTS)
def test_a_fault_is_told_in_one_short_line_with_its_place(tmp_path, content, message):
    with pytest.raises(ScoreDataError) as error:
        read(tmp_path, content)
    said = str(error.value).removeprefix(str(tmp_path / "scores.csv"))
    assert said.startswith(message)
    assert "\n" not in said
    assert len(said) < 300


@pytest.mark.parametrize("name", ["scores.csv", "scores.tsv"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_fields_are_separated_as_the_header_has_them(tmp_path, name, separator):
    assert len(read(tmp_path, GOOD.replace(",", separator), name)) == 2
