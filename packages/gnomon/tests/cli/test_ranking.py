"""The ranking verbs: what is said, LaTeX, and names that are markup."""

from __future__ import annotations

import json

import numpy as np

from gnomon.scores import ScoreTable, write_scores


def test_ranks_are_printed_with_names_escaped_for_latex(command):
    rng = np.random.default_rng(0)
    means = {"dqn_fast": 20, "tabular": 20.2, "uniform": 90}
    scores = {name: rng.poisson([m, 3 * m, 3.1 * m], (12, 3)) for name, m in means.items()}
    write_scores(ScoreTable.from_arrays(scores, higher_is_better=False), "scores.csv")
    said = command("gnomon rank scores.csv --normalize min-max")
    assert "1 to 2   1" in said.out
    assert "Algorithms in the same tier are not significantly different." in said.out
    assert "normalization does not change the ranks" in said.err
    comment, *lines = command("gnomon rank scores.csv --latex --level 0.99").out.split("\n")
    assert comment == "% mean win probability, 99 % intervals"
    assert lines[0] == r"\begin{tabular}{lrlll}"
    assert lines[2] == r"algorithm & value & interval & rank & tier \\"
    assert lines[4].startswith(r"dqn\_fast & $")
    assert lines[4].endswith(r"]$ & 1--2 & 1 \\")


def test_audit_of_a_papers_table(command, tmp_path):
    rows = [(f"model-{m}", [50 + 8 * m + t % 5 for t in range(9)]) for m in range(3)]
    lines = [",".join([name, "MIT", *(f"{x}%" for x in row)]) for name, row in rows]
    head = ",".join(["Model", "Licence", *(f"t{t}" for t in range(9))])
    (tmp_path / "paper.csv").write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    status, out, err = command("gnomon audit paper.csv --resamples 100")
    assert (status, err) == (0, "")
    assert "Mean: model-2 > model-1 > model-0; same order as the ranks" in out
    notes = out.partition("\nNotes\n-----\n")[2]
    assert notes.count("the tasks are treated as a sample") == 1
    answer = json.loads(command("gnomon audit paper.csv --json").out)
    assert any("treated as a sample" in text for text in answer["warnings"])


def test_any_name_is_ranked_drawn_and_escaped(command, tmp_path):
    """Names that are markup, mathematics, right to left, or much too long."""
    names = [
        "$x$ $\\frac{", "<b>&amp;\"", "na\u00efve \U0001f916", "a%b_c#d{e}~^\\",
        "\u05e9\u05dc", "o'neil, jr", "x" * 200, "-rf", "=1+1",
    ]  # fmt: skip
    rng = np.random.default_rng(0)
    scores = {name: rng.normal(i, 3, (4, 2)) for i, name in enumerate(names)}
    write_scores(ScoreTable.from_arrays(scores, tasks=["$t_1$", "<t>"]), "strange.csv")
    for options in ("", "--latex", "--method kemeny", "--by task"):
        assert command(f"gnomon rank strange.csv {options}").status == 0
    command("gnomon report strange.csv --out page")
    page = (tmp_path / "page" / "report.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;&amp;amp;&#34;" in page
    assert "<b>" not in page
