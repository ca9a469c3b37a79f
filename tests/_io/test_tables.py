def test_a_text_is_returned_in_a_notebook_too(monkeypatch):
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert "1.5" in text_table([{"a": 1.5}], ["a"])
