"""Small evaluation logs as other tools write them, to be read by tests."""

import json
import struct
import zipfile
import zlib
from pathlib import Path

import zstandard

#: Logs that the tools themselves wrote, where they are at hand.
SHARED = Path(__file__).parents[3] / ".." / "shared" / "data" / "evals"


def sample(item, epoch=1, *, text=None, score="C", scorer="match", **about):
    """Return a summary of a sample as inspect writes it."""
    found = {
        "id": item,
        "epoch": epoch,
        "input": text or f"Question {item}?",
        "target": "x",
        "metadata": {"topic": f"t{int(item) % 2}"},
        "scores": {} if score is None else {scorer: {"value": score, "history": []}},
        "model_usage": {"m": {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}},
        "total_time": 1.5,
        "working_time": 1.0,
        "uuid": f"{id(about)}-{item}-{epoch}",
        "completed": True,
    }
    return found | about


def head(model="lab/a", task="quiz", *, status="success", n=None, epochs=1, **about):
    """Return what a log of inspect says of itself."""
    config = {"epochs": epochs}
    dataset = {"name": "d", "samples": n, "sample_ids": None if n is None else [*range(1, n + 1)]}
    evaluation = {"model": model, "task": task, "config": config, "dataset": dataset} | about
    return {"version": 2, "status": status, "eval": evaluation, "plan": {"steps": []}}


def write_json(path, samples, **about):
    """Write a ``.json`` log of inspect."""
    path.write_text(json.dumps({**head(**about), "samples": samples}))
    return path


def write_eval(path, samples, *, members=(), method=93, whole=True, journal=True, **about):
    """Write an ``.eval`` log of inspect; one that is not `whole` has its journal alone."""
    start = head(**about)
    status = start.pop("status")
    contents = {"_journal/start.json": start}
    contents |= {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in members or samples}
    if journal:
        contents["_journal/summaries/1.json"] = samples
    if whole:
        contents |= {"summaries.json": samples, "header.json": {**start, "status": status}}
    packed = {name: json.dumps(content).encode() for name, content in contents.items()}
    write_zip(path, packed, method)
    return path


def write_zip(path, members, method):
    """Write a ZIP file; Python's own module packs no Zstandard before 3.14."""
    if method != 93:
        with zipfile.ZipFile(path, "w", compression=method) as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        return
    packer, entries = zstandard.ZstdCompressor(), []
    with path.open("wb") as file:
        for name, data in members.items():
            body, at, label = packer.compress(data), file.tell(), name.encode()
            sizes = (zlib.crc32(data), len(body), len(data), len(label), 0)
            common = struct.pack("<HHHHHIIIHH", 63, 0x800, 93, 0, 33, *sizes)
            file.write(b"PK\x03\x04" + common + label + body)
            entries.append(b"PK\x01\x02" + struct.pack("<H", 63) + common)
            entries.append(struct.pack("<HHHII", 0, 0, 0, 0, at) + label)
        at, n, directory = file.tell(), len(members), b"".join(entries)
        end = struct.pack("<HHHHIIH", 0, 0, min(n, 65535), min(n, 65535), len(directory), at, 0)
        file.write(directory)
        if n > 65535:
            end64 = struct.pack("<QHHIIQQQQ", 44, 63, 63, 0, 0, n, n, len(directory), at)
            file.write(b"PK\x06\x06" + end64)
            file.write(b"PK\x06\x07" + struct.pack("<IQI", 0, at + len(directory), 1))
        file.write(b"PK\x05\x06" + end)


def lm_eval_line(doc_id, *, filters="none", text=None, prompt=None, **scores):
    """Return a line of samples of lm-evaluation-harness."""
    text = text or f"Question {doc_id}?"
    return {
        "doc_id": doc_id,
        "doc": {"question": text, "topic": f"t{doc_id % 2}"},
        "arguments": {"gen_args_0": {"arg_0": prompt or text}},
        "filter": filters,
        "metrics": [*scores],
        "doc_hash": f"{zlib.crc32(text.encode()):064x}"[::-1],
        "prompt_hash": f"{zlib.crc32((prompt or text).encode()):064x}"[::-1],
        **scores,
    }


def write_lm_eval(folder, model, tasks, *, stamp="2026-01-01T00-00-00.1", **results):
    """Write samples of tasks, and the file of results beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    for task, lines in tasks.items():
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"samples_{task}_{stamp}.jsonl").write_text(text)
    about = {"model_name": model, "results": {}} | results
    (folder / f"results_{stamp}.json").write_text(json.dumps(about))
    return folder


def write_helm(folder, model, scores, *, name="quiz:subject=law", texts=None, **others):
    """Write a run of HELM with one score, ``exact_match``, of each instance.

    `others` may hold ``perturbed`` instances, ``splits`` of instances that are not of "test", and
    ``means`` of each split.
    """
    folder.mkdir(parents=True)
    spec = {"name": f"{name},model={model.replace('/', '_')}", "adapter_spec": {"model": model}}
    (folder / "run_spec.json").write_text(json.dumps(spec))
    splits = others.get("splits", {})

    def stat(name, mean, split="test", **about):
        return {"name": {"name": name, "split": split, **about}, "count": 1, "mean": mean}

    stats = []
    for item, score in scores.items():  # each class of metrics writes an object of its own
        split = splits.get(item, "test")
        counts = [stat("num_prompt_tokens", 7.0, split), stat("num_references", 4.0, split)]
        counts.append({"name": {"name": "training_co2_cost", "split": split}, "count": 0})
        for own in ([stat("exact_match", score, split)], counts):
            stats.append({"instance_id": item, "train_trial_index": 0, "stats": own})
    stats += others.get("perturbed", [])
    (folder / "per_instance_stats.json").write_text(json.dumps(stats))
    if means := others.get("means"):
        worst = {"perturbation": {"name": "robustness", "computed_on": "worst"}}
        told = [stat("exact_match", mean, split) for split, mean in means.items()]
        told += [stat("exact_match", 0.0, **worst), stat("perplexity", 1.0)]
        (folder / "stats.json").write_text(json.dumps(told))
    if texts is not None:
        states = [
            {"instance": {"id": item, "input": {"text": text}}} for item, text in texts.items()
        ]
        state = {"adapter_spec": {}, "request_states": states}
        (folder / "scenario_state.json").write_text(json.dumps(state))
    return folder
