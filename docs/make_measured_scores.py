"""Pack the scores of a run into the package: ``python docs/make_measured_scores.py NAME FOLDER``.

The data sets are made by these commands; the first takes some twenty minutes of two cores, the
second five minutes of one, the others, which need the extra ``rl``, half an hour each::

    gohr run gohr-full-results --out full --workers 2
    python docs/make_measured_scores.py gohr-full full
    gohr run gohr-induction-results --out induction
    python docs/make_measured_scores.py gohr-induction induction
    gohr run gohr-core-sb3 --out sb3 --workers 2
    python docs/make_measured_scores.py gohr-core-sb3 sb3
    gohr run gohr-core-sb3-unmasked --out unmasked --workers 2
    python docs/make_measured_scores.py gohr-core-sb3-unmasked unmasked
"""

from __future__ import annotations

import datetime
import hashlib
import io
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from gohr.execution import ProcessWorkers
from gohr.experiments import METRICS, Run, TrialRecord, run_label, score_trial

METRICS_KEPT = ("tce", "errors_to_learn", "skill")
OUT = Path(__file__).parents[1] / "packages/gnomon/src/gnomon/scores/data"
BATCH = 200


def scores_of(piece: tuple[str, list[TrialRecord]]) -> list[list[float]]:
    """Return the kept scores of some trials of a run folder."""
    folder = Run.open(piece[0])
    rules = {entry.name: entry.rule_set for entry in folder.config.rules}
    board = folder.config.board
    rows = []
    for record in piece[1]:
        log, rule = folder.log(record), rules[record.rule]
        rows.append([
            float(score_trial(log, metric, rule_set=rule, board_spec=board))
            for metric in METRICS_KEPT
        ])  # fmt: skip
    return rows


def table_of(folder: Run) -> dict[str, Any]:
    """Return arrays with an entry for each trial, in the order of the experiment.

    What was not reached is empty. A run that was stopped gives the trials that each learner has
    played on each rule.
    """
    done = [record for record in folder.trials() if record.status == "done"]
    n_pairs = len(folder.config.learners) * len(folder.config.rules)
    played = Counter(record.trial for record in done)
    records = [record for record in done if played[record.trial] == n_pairs]
    pieces = [(str(folder.path), records[i : i + BATCH]) for i in range(0, len(records), BATCH)]
    found: dict[str, list[list[float]]] = {}
    for n, outcome in enumerate(ProcessWorkers(2).map(scores_of, pieces), start=1):
        if outcome.result is None:
            raise SystemExit(outcome.error)
        found[outcome.piece[1][0].key] = outcome.result
        print(f"\r{n} of {len(pieces)}", end="", file=sys.stderr, flush=True)
    scores = np.array([row for _, part in pieces for row in found[part[0].key]])
    kinds = {learner.name: learner.kind for learner in folder.config.learners}
    learners = [record.learner for record in records]
    found_names = {
        "algorithm": learners,
        "kind": [kinds[name] for name in learners],
        "task": [record.rule for record in records],
        "run": [run_label(record.rule, record.trial) for record in records],
    }
    arrays: dict[str, Any] = {}
    for name, texts in found_names.items():
        place = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        arrays[name] = np.array([place[text] for text in texts], np.uint16)
        arrays[f"{name}_names"] = np.array(list(place))
    arrays["tce"] = scores[:, 0].astype(np.int32)
    # -1 where a learner never learned the rule.
    arrays["errors_to_learn"] = np.where(np.isinf(scores[:, 1]), -1, scores[:, 1]).astype(np.int32)
    return arrays | {"skill": scores[:, 2].astype(np.float32)}


def provenance(name: str, folder: Run, data: bytes, n_rows: int) -> dict[str, Any]:
    """Return what must be known of the scores, and nothing of the machine but its kind."""
    return {
        "name": name,
        "experiment": folder.config.name,
        "gnomon": folder.version,
        "config_hash": folder.config.hash,
        "n_trials": n_rows,
        "n_trials_planned": folder.config.n_trials,
        "made": datetime.date.today().isoformat(),
        "software": folder.software,
        "sha256": hashlib.sha256(data).hexdigest(),
        "metrics": {
            metric: {
                "sentence": METRICS[metric].sentence,
                "unit": METRICS[metric].unit,
                "higher_is_better": METRICS[metric].higher_is_better,
            }
            for metric in METRICS_KEPT
        },
        "learners": [learner.to_record() for learner in folder.config.learners],
    }


def main() -> None:
    """Write NAME.npz and NAME.json."""
    name, folder = sys.argv[1], Run.open(sys.argv[2])
    arrays = table_of(folder)
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    OUT.mkdir(exist_ok=True)
    (OUT / f"{name}.npz").write_bytes(out.getvalue())
    about = provenance(name, folder, out.getvalue(), arrays["run"].size)
    text = json.dumps(about, indent=1, ensure_ascii=False) + "\n"
    (OUT / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
