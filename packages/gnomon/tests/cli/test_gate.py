"""The verb ``gate``: exit status and output, on the cases of the gate's faults too."""

from pathlib import Path

import pytest

CASES = Path(__file__).parents[5] / "shared" / "cases" / "gate"


def write(path, scores):
    path.write_text("model,item,score\n" + "".join(f"m,q{i},{x}\n" for i, x in enumerate(scores)))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    base = [1] * 160 + [0] * 40
    write(tmp_path / "base.csv", base)
    write(tmp_path / "worse.csv", [0] * 20 + base[20:])
    write(tmp_path / "crashed.csv", [""] * 70 + base[70:])


def test_the_exit_status_is_the_answer(command):
    for new, options, status in (
        ("base.csv", "--regression --non-inferior 0.05", 0),
        ("worse.csv", "--regression", 1),
        ("worse.csv", "--regression --non-inferior 0.3", 1),
        ("worse.csv", "--non-inferior 20%", 0),
        ("base.csv", "--superior", 1),
        ("base.csv", "", 2),
        ("crashed.csv", "--regression", 2),
        ("crashed.csv", "--regression --missing wrong", 1),
        ("crashed.csv", "--regression --require 0.99", 2),
        ("none.csv", "--regression", 2),
    ):
        said = command(f"gnomon gate {new} base.csv {options}")
        assert said.status == status, (new, options, said.err)
    said = command("gnomon gate crashed.csv base.csv --regression")
    assert "70 of 200 items of BASE are missing in NEW" in said.err
    assert "--missing wrong, --missing drop or --require 0.99" in said.err


@pytest.mark.skipif(not CASES.exists(), reason="the reported cases are not in the repository")
@pytest.mark.parametrize(
    "variant", ["", "_NaN", "_empty", "_few", "_missing", "_other", "_otherscore", "_pct"]
)
def test_no_variant_of_a_worse_branch_passes(command, variant):
    new, base = CASES / f"new{variant}.csv", CASES / "old.csv"
    for options in ("--regression", "--non-inferior 0.02 --regression", "--regression --superior"):
        said = command(f"gnomon gate {new} {base} {options}")
        assert said.status == (2 if variant else 1), said.err
    said = command(f"gnomon gate {new} {base} --regression --missing wrong")
    assert said.status == (2 if variant in ("_other", "_otherscore", "_pct") else 1)


def test_a_loop_is_decided_by_its_latest_candidate(command, tmp_path):
    rows = [("a1", s, "keep") for s in (0.99, 0.98, 1.0, 0.99)]
    table = tmp_path / "results.tsv"

    def decided(*words):
        text = "".join(f"{name}\t{score}\t{status}\tx\n" for name, score, status in rows)
        table.write_text("commit\tval_bpb\tstatus\tdescription\n" + text)
        said = command("gnomon gate --loop state.json --json", *words)
        last = said.results_with(said.status)[-1] if said.status < 2 else {}
        return said.status, last.get("candidate"), last.get("decision"), said

    *found, said = decided("results.tsv", "--lower-is-better")
    assert found == [0, "a1", "keep"]
    assert said.err == "state.json: new loop; a1 is the baseline, lower scores are better\n"
    rows += [("b2", 0, "crash")]
    *found, said = decided("results.tsv")
    assert (found, said.err) == ([1, "b2", "discard"], "")
    rows += [("c3", 0.5, "keep")]
    status, *_, said = decided("results.tsv")
    assert status == 1
    while (one := said.results_with(status)[-1])["decision"] == "again":
        rows += [(one["run"][0], 0.5 if one["run"][0] == "c3" else 0.99, "x")]
        status, *_, said = decided("results.tsv")
    assert (status, one["decision"]) == (0, "keep")
    names = "candidate decision run n_runs ahead e_value error value low high"
    assert [*one] == names.split()
    assert decided()[:3] == (0, "c3", "keep")
    assert decided("--figure", "loop.svg")[0] == 0
    assert (tmp_path / "loop.svg").exists()
    for words in (
        ["--error", "0.2"],
        *(["--error", wrong] for wrong in ("2", "0", "1", "nan", "-1")),
        ["--familywise"],
        ["--superior"],
        ["none.tsv"],
        ["base.csv", "--score", "x"],
    ):
        status, *_, said = decided(*words)
        assert (status, said.err.count("\n")) == (2, 1), said.err
    said = command("gnomon gate base.csv base.csv --regression --familywise")
    said.assert_refused("needs --loop")
