"""The JSON object of every verb, with the fields that programs may rely on."""

import json

import pytest

#: Verb and options, and the fields of its records.
FIELDS = {
    "estimate scores.csv": "algorithm metric task value low high level method n_runs n_tasks",
    "compare scores.csv": "a b metric task value low high p_value p_adjusted better",
    "rank scores.csv": "name value low high rank_low rank_high tiers",
    "profile scores.csv": "algorithm kind tau value low high",
    "curves curves.csv": "algorithm metric task step value low high",
    "plan scores.csv a0 a1": "a b metric runs power",
    "audit scores.csv": "section name finding value",
    "distill scores.csv --size 2": "tasks weights relative_error nested_relative_error n_rows",
    "predict model.json scores.csv": "algorithm value low high level extrapolation",
}
FIELDS |= {
    f"{verb} items.csv": FIELDS[f"{verb} scores.csv"] for verb in ("estimate", "compare", "rank")
}
FIELDS["plan items.csv"] = FIELDS["plan scores.csv a0 a1"]
FIELDS["gate scores.csv a0 a1 --metric mean --regression"] = (
    "claim group holds value low high p_value n_missing detectable"
)


def rows(columns, cells):
    return "\n".join([columns, *(",".join(map(str, cell)) for cell in cells)])


@pytest.mark.parametrize("words", FIELDS)
def test_records_have_the_fields_of_their_verb(command, tmp_path, words):
    every = [(f"a{i}", f"t{t}", r) for i in range(12) for t in range(4) for r in range(3)]
    scores = [(*key, 10 + n // 12 + n % 11) for n, key in enumerate(every)]
    steps = [(*key, s, s + n % 5) for n, key in enumerate(every) for s in (1, 2)]
    answers = [(f"m{n % 3}", f"q{n // 3}", int(n % 7 < 3)) for n in range(90)]
    for name, text in {
        "scores": rows("algorithm,task,run,score", scores),
        "curves": rows("algorithm,task,run,step,score", steps),
        "items": rows("model,item,correct", answers),
    }.items():
        (tmp_path / f"{name}.csv").write_text(text)
    if "model.json" in words:
        command("gnomon", "distill", "scores.csv", "--size", "2", "--model", "model.json")
    said = command("gnomon", *words.split(), "--json")
    assert said.status == 0, said.err
    found = json.loads(said.out)
    assert list(found) == ["gnomon", "command", "results", "warnings"]
    assert found["command"] == words.split()[0]
    assert all(set(FIELDS[words].split()) <= set(one) for one in found["results"])
    assert found["results"]
