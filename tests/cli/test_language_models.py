"""Language models on the command line: replay, and a forecast that asks nothing."""

import json

from learners.language_model.provider import serving

CONFIG = """
name = "m"
rules = ["color-match"]
trials = 2
episodes = 1
horizon = 30
[[learners]]
kind = "language_model"
model = "plays"
url = "{url}/chat/completions"
key_variable = "A_KEY"
[[prices]]
model = "plays"
input = 1
output = 2
[budget]
run = {{ money = 5 }}
"""


def shards(folder):
    return {path.name: path.read_bytes() for path in (folder / "shards").glob("*.parquet")}


def test_a_run_is_played_again_from_its_transcript(gnomon, monkeypatch, tmp_path):
    monkeypatch.setenv("A_KEY", "k")
    with serving() as provider:
        (tmp_path / "m.toml").write_text(CONFIG.format(url=provider.url))
        forecast = gnomon("run", "m.toml", "--dry-run", "--json")
        assert json.loads(forecast.out)["results"][0]["source"] == "not asked"
        assert not provider.requests
        assert gnomon("run", "m.toml", "--out", "first", "-j", "2").status == 0
        assert provider.requests
    again = gnomon("run", "m.toml", "--out", "again", "--from-transcript", "first")
    assert again.status == 0
    assert shards(tmp_path / "first") == shards(tmp_path / "again")
    wrong = gnomon("run", "m.toml", "--out", "x", "--from-transcript", "nowhere")
    assert wrong.status == 2
    assert wrong.err == (
        "gnomon: nowhere: expected a run folder with exchanges.sqlite, found none\n"
    )
