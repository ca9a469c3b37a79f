"""Logs with one odd value anywhere: they are read, or refused in one line."""

import copy
import json
import warnings

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluation_logs import lm_eval_line, sample, write_eval, write_helm, write_json, write_lm_eval
from gnomon.errors import GnomonError
from gnomon.scores import read_scores

ODD = st.sampled_from([None, "x", 1, -2.5, True, [], {}, [[1]], {"x": {"x": 1}}, "", 10**400])


def places(value, place=()):
    """Yield the place of every value inside another."""
    yield place
    items = value.items() if isinstance(value, dict) else ()
    for key, inner in enumerate(value) if isinstance(value, list) else items:
        yield from places(inner, (*place, key))


def with_odd(value, place, odd):
    """Return a copy with another value in one place."""
    if not place:
        return odd
    copied = copy.deepcopy(value)
    inner = copied
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = odd
    return copied


def sources(folder):
    """Write a log of each format, and yield its path and the files that hold JSON."""
    samples = [sample(i, metadata={"topic": "t", "deep": {"x": [1]}}) for i in (1, 2)]
    samples[1]["input"] = [{"role": "user", "content": [{"type": "text", "text": "x"}]}]
    samples[1]["error"] = {"message": "x"}
    yield "inspect", write_json(folder / "a.json", samples), ["a.json"]
    lines = [lm_eval_line(i, acc=1.0) for i in (0, 1)]
    about = {"results": {"q": {"acc,none": 1.0}}, "groups": {"g": {"acc,none": 1.0}}}
    about |= {"group_subtasks": {"g": ["q"]}, "higher_is_better": {"q": {"acc": True}}}
    about |= {"configs": {"q": {"metric_list": [{"metric": "acc", "aggregation": "mean"}]}}}
    about |= {"n-samples": {"q": {"original": 2, "effective": 2}}}
    lm = write_lm_eval(folder / "lm", "m", {"q": lines}, stamp="1", **about)
    yield "lm-eval-samples", lm, ["lm/results_1.json", "lm/samples_q_1.jsonl"]
    helm = write_helm(folder / "helm", "m", {"i": 1.0, "j": 0.0}, texts={"i": "x"})
    names = ("per_instance_stats", "run_spec", "scenario_state")
    yield "helm", helm, [f"helm/{name}.json" for name in names]


def refusal(path, name):
    """Return why a log is not read; nothing if it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            str(read_scores(path, format=name))
        except GnomonError as error:
            return str(error)
    return ""


@given(data=st.data(), odd=ODD)
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_one_odd_value_is_read_or_refused_in_one_line(tmp_path_factory, data, odd):
    folder = tmp_path_factory.mktemp("logs")
    name, path, files = data.draw(st.sampled_from(list(sources(folder))))
    file = folder / data.draw(st.sampled_from(files))
    lines = file.read_text().splitlines() if file.suffix == ".jsonl" else [file.read_text()]
    at = data.draw(st.integers(0, len(lines) - 1))
    content = json.loads(lines[at])
    lines[at] = json.dumps(with_odd(content, data.draw(st.sampled_from([*places(content)])), odd))
    file.write_text("\n".join(lines) + "\n")
    assert "\n" not in refusal(path, name)


@given(data=st.data(), odd=ODD)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_one_odd_value_in_an_archive(tmp_path_factory, data, odd):
    folder = tmp_path_factory.mktemp("logs")
    samples = [sample(1), sample(2)]
    place = data.draw(st.sampled_from([p for p in places(samples) if len(p) > 1]))
    changed = with_odd(samples, place, odd)
    path = write_eval(folder / "a.eval", changed, members=samples)
    assert "\n" not in refusal(path, "inspect")
