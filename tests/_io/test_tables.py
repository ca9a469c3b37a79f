"""Tables as text: the same in a terminal, in a file and in a notebook."""

from __future__ import annotations

from gnomon._io.tables import text_table


def test_a_text_is_returned_in_a_notebook_too(monkeypatch):
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert "1.5" in text_table([{"a": 1.5}], ["a"])
