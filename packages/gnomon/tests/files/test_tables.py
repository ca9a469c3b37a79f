"""Tables as text: the same in a terminal, in a file and in a notebook."""

from __future__ import annotations

import pytest

from gnomon.printing import MOST_ROWS, html_table, latex_rows, latex_table, text_table


def test_columns_are_aligned_at_a_fixed_width():
    rows = [
        {"name": "漢字 [bold]", "value": 12345.6, "n": None},
        {"name": "a long name: with/what else may mark up", "value": -0.25, "n": 3},
    ]
    assert text_table(rows, ["name", "value", "n"], title="Two", width=60).splitlines() == [
        "Two",
        "",
        " name                                      value   n",
        " ───────────────────────────────────────────────────",
        " 漢字 [bold]                               12346   -",
        " a long name: with/what else may mark up   -0.25   3",
    ]
    narrow = text_table(rows, ["name", "value", "n"], width=24).splitlines()
    assert all(len(line) <= 24 for line in narrow)
    assert "12346" in narrow[2]


def test_no_table_prints_more_of_a_tiny_p_value_than_a_bound():
    rows = [{"value": 4.2e-7, "p_difference": 4.2e-7, "p_adjusted": 0.00012}]
    for table in (text_table, html_table, latex_table):
        text = table(rows, [*rows[0]])
        bound = "&lt; 0.0001" if table is html_table else "< 0.0001"
        assert text.count(bound) == 1, text
        assert "4.2e-07" in text, text
        assert "0.00012" in text, text


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("a_b & 5%", r"a\_b \& 5\%"),
        ("x<y>z|", r"x\textless{}y\textgreater{}z\textbar{}"),
        ("[a] *", "{[}a] *"),
        ("* $x^2$", r"{*} \$x\textasciicircum{}2\$"),
    ],
)
def test_names_are_printed_by_latex_as_they_are(name, printed):
    row = latex_table([{"name": name, "value": -0.5}], ["name", "value"]).splitlines()[4]
    assert row == rf"{printed} & $-0.5$ \\"
    row = latex_rows(["task", "a"], [name], [["-0.5 [-1, 2]"]], [[True]]).splitlines()[4]
    assert row == rf"{printed} & \textbf{{$-$0.5 [$-$1, 2]}} \\"


def test_of_a_long_table_the_first_rows_are_shown():
    rows = [{"name": f"a{i}", "value": i / 7.0} for i in range(MOST_ROWS + 1500)]
    lines = text_table(rows, ["name", "value"]).splitlines()
    assert len(lines) == 2 + MOST_ROWS + 1
    assert lines[-2].split()[0] == f"a{MOST_ROWS - 1}"
    assert lines[-1] == " … and 1,500 more rows"
