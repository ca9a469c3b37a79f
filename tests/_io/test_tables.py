"""Tables as text: the same in a terminal, in a file and in a notebook."""

from __future__ import annotations

import random
import sys
import time

from gnomon._io.tables import MOST_ROWS, html_table, latex_table, text_table


def test_a_text_is_returned_in_a_notebook_too(monkeypatch):
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert "1.5" in text_table([{"a": 1.5}], ["a"])
    assert "1.5" in text_table([{"a": 1.5, "b": "what has to be broken"}], ["a", "b"], width=12)


def test_what_needs_no_breaks_is_laid_out_as_rich_does(monkeypatch):
    rng = random.Random(0)
    letters = "abc -_.XYZ09é漢字ß[]:/'"

    def word(longest: int) -> str:
        return "x" + "".join(rng.choices(letters, k=rng.randrange(longest))) + "x"

    n_plain = 0
    for _ in range(300):
        numeric = {f"{word(7)}{i}": rng.random() < 0.5 for i in range(rng.randint(1, 4))}
        rows = [
            {n: rng.choice([None, 1, -3.25, 12345.6]) if is_n else word(9)
             for n, is_n in numeric.items()}
            for _ in range(rng.randint(1, 3))
        ]  # fmt: skip
        title, width = rng.choice([None, word(20)]), rng.randint(5, 90)
        with monkeypatch.context() as plainly:
            plainly.setitem(sys.modules, "rich.table", None)
            try:
                ours = text_table(rows, [*numeric], title=title, width=width)
            except ImportError:
                continue
        n_plain += 1
        monkeypatch.setattr("gnomon._io.tables._fits", lambda *_: False)
        assert text_table(rows, [*numeric], title=title, width=width) == ours, (rows, title, width)
        monkeypatch.undo()
    assert n_plain > 50


def test_no_table_prints_more_of_a_tiny_p_value_than_a_bound():
    rows = [{"value": 4.2e-7, "p_difference": 4.2e-7, "p_adjusted": 0.00012}]
    for table in (text_table, html_table, latex_table):
        text = table(rows, [*rows[0]])
        bound = "&lt; 0.0001" if table is html_table else "< 0.0001"
        assert text.count(bound) == 1, text
        assert "4.2e-07" in text, text
        assert "0.00012" in text, text


def test_a_long_table_is_laid_out_as_a_short_one_without_taking_long(monkeypatch):
    rows = [
        {"name": f"漢字 {i}" if i % 3 else "b", "value": i / 7.0, "n": None, "groups": [1, i]}
        for i in range(MOST_ROWS + 1)
    ]
    for title in (None, "What these are"):
        plain = text_table(rows, [*rows[0]], title=title)
        monkeypatch.setattr("gnomon._io.tables.MOST_ROWS", len(rows))
        assert plain == text_table(rows, [*rows[0]], title=title)
        monkeypatch.undo()
    begin = time.process_time()
    text_table(rows * 15, [*rows[0]])
    assert time.process_time() - begin < 1.0
