"""A made-up suite of language models, and the files that lm-evaluation-harness would leave."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from gnomon.scores import ScoreTable


def language_models(n=200, n_tasks=57, seed=0) -> ScoreTable:
    """Return accuracies as an evaluation harness gives them: models of one ability and noise."""
    rng = np.random.default_rng(seed)
    ability = rng.normal(size=(n, 1))
    slope, difficulty = rng.uniform(0.3, 1.5, n_tasks), rng.normal(size=n_tasks)
    p = 1 / (1 + np.exp(-slope * (ability - difficulty) - rng.normal(0, 0.3, (n, n_tasks))))
    scores = rng.binomial(500, p) / 500
    rows = {f"model-{i:03}": [row] for i, row in enumerate(scores)}
    tasks = [f"task_{j:02}" for j in range(n_tasks)]
    return ScoreTable.from_arrays(rows, tasks=tasks, metric="acc")


def write_harness_results(table: ScoreTable, folder: Path) -> None:
    """Write one folder a model, with one file of results in it."""
    for model in table.algorithms:
        scores = {task: {"acc,none": float(table.runs(model, task)[0])} for task in table.tasks}
        content = {"results": scores, "model_name": model}
        (folder / model).mkdir(parents=True)
        (folder / model / "results_2026-11-21T00-00-00.json").write_text(json.dumps(content))
