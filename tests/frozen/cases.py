"""What is frozen: the commands of each section, and the small files that they are given.

A command is a line; ``--json`` is added. Each section plays in a folder of its
own, its commands in this order, for later ones read what earlier ones have written.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

# ruff: noqa: E501 (a command is a line)

SCORES = """
gnomon estimate scores.csv
gnomon estimate scores.csv --metric mean --metric iqm --metric optimality_gap --method percentile --resamples 300
gnomon estimate scores.csv --metric mean --variances own
gnomon estimate scores.csv --metric iqm --per-task --resamples 300
gnomon estimate scores.csv --metric mean --resampling runs_and_tasks --resamples 300
gnomon estimate scores.csv --metric optimality_gap --gamma 1.5 --level 0.8 --resamples 300 --seed 3
gnomon estimate scores.csv --metric mean --normalize min-max --resamples 300
gnomon estimate scores.csv --metric mean --normalize percentile --resamples 300
gnomon estimate scores.csv --metric mean --normalize reference:sac --resamples 300
gnomon estimate games.csv --metric mean --normalize random-human --resamples 300
gnomon estimate games.csv --metric mean --where task=Pong --resamples 300
gnomon estimate wide.csv --metric median --resamples 300
gnomon estimate summaries.csv
gnomon estimate summaries.csv --metric mean --lower-is-better
gnomon estimate curves.csv --metric mean --resamples 300
gnomon estimate nowhere.csv
gnomon estimate scores.csv --metric best
gnomon compare scores.csv dqn sac --resamples 300
gnomon compare scores.csv dqn sac --metric probability_of_improvement --resamples 300
gnomon compare scores.csv dqn sac --metric mean --per-task --method percentile --resamples 300
gnomon compare scores.csv dqn sac --metric mean --variances own
gnomon compare scores.csv dqn sac --metric iqm --paired --resamples 300
gnomon compare scores.csv --metric mean --resamples 300
gnomon compare scores.csv --metric iqm --lower-is-better --normalize min-max --resamples 300
gnomon compare summaries.csv dqn sac
gnomon profile scores.csv --resamples 200 --tau 0.5 --tau 1
gnomon profile scores.csv --kind average_score --tau 0.5 --tau 1 --resamples 200 --algorithm dqn
gnomon profile scores.csv --kind ratio --tau 0.5 --tau 1 --tau 2
gnomon profile scores.csv --kind likelihood --tau 0.5 --tau 1 --tau 2
gnomon profile scores.csv --resamples 200 --algorithm sac
gnomon profile summaries.csv --kind likelihood --tau 1
gnomon profile summaries.csv --kind ratio --tau 1
gnomon curves curves.csv --metric mean --resamples 200
gnomon curves curves.csv --metric iqm --method percentile --algorithm dqn --resamples 200
gnomon curves curves.csv --summary area --metric mean --resamples 200
gnomon curves curves.csv --summary best --metric mean --resamples 200
gnomon curves curves.csv --summary final --metric mean --resamples 200
gnomon curves curves.csv --summary time_to_threshold --threshold 2 --metric mean --resamples 200
gnomon plan scores.csv dqn sac
gnomon plan scores.csv --runs 5 --runs 10 --power 0.9 --metric mean
gnomon plan scores.csv dqn sac --metric mean
gnomon rank scores.csv
gnomon rank scores.csv --by task
gnomon rank scores.csv --resampling runs_and_tasks
gnomon rank scores.csv --method gohr-ev
gnomon rank scores.csv --method mean-rank
gnomon rank scores.csv --method kemeny
gnomon rank scores.csv --method best
gnomon audit scores.csv --resamples 100
gnomon audit wide.csv --resamples 100
gnomon audit summaries.csv
gnomon read scores.csv
gnomon read scores.csv --where task=t1
gnomon read wide.csv
"""

RUNS = """
gohr rules list
gohr rules list --family sequence
gohr rules show clockwise
gohr rules show bad.txt
gohr rules check clockwise color-match
gohr rules check stuck.txt --states 200
gohr rules check bad.txt
gohr rules draw
gohr rules draw cycle-of-two --out family
gohr run small.toml --out run
gohr run small.toml --out run --dry-run
gohr run small.toml --out run
gohr run clockwise --learners uniform,frugal --trials 1 --episodes 2 --seed 5 --out other
gohr run clockwise --learners all --dry-run
gohr run nowhere.toml
gohr status run
gohr score run
gohr score run --metric errors_to_learn
gohr score run --metric episodes_to_learn
gohr score run --metric learned
gohr score run --metric cumulated_errors
gohr score run --metric move_accuracy
gohr score run --metric tce --leave-out-empty-cells --out tce.csv
gnomon estimate run --score tce --resamples 100
gnomon compare run uniform frugal --resamples 100
gnomon profile run --tau 5 --tau 20 --resamples 100
gnomon curves run --resamples 100 --metric mean
gnomon plan run uniform frugal --metric mean
gnomon rank run
gnomon rank run --by task
gnomon audit run --resamples 50
gohr verify run
gohr report run
gohr verify other
gohr captive
"""

DISTILLED = """
gnomon distill suite.csv --size 2
gnomon distill suite.csv --size 2 --procedure paper
gnomon distill suite.csv --size 3 --summary iqm --transform identity --have t1 --exclude t2 --seed 2
gnomon distill suite.csv --size 2 --summary mean_log
gnomon distill suite.csv --size 2 --model model.json
gnomon distill suite.csv --size 2 --normalize references.csv --transform identity
gnomon distill grouped.csv --size 2 --group-by family
gnomon distill suite.csv --size 20
"""

BOARD = """
gnomon-board migrate --data board
gnomon-board token ada --data board
gnomon-board token root --scope admin --days 2 --data board
gnomon-board season new season.toml --data board
gnomon-board season new hidden.toml --data board
gnomon-board season new hidden.toml --data board
gnomon-board season reveal s2 --data board
gnomon-board season close s2 --data board
gnomon-board season reveal s2 --out reveal.json --data board
gnomon-board season check-reveal reveal.json
gnomon-board season check-reveal reveal.json --commitment 0000000000000000000000000000000000000000000000000000000000000000
gnomon-board season check-reveal season.toml
gnomon-board study new study.toml --public-url http://b.example/ --data board
gnomon-board study invite pilot --data board
gnomon-board study close pilot --data board
gnomon-board study close pilot --data board
gnomon-board study export pilot exported --data board
gnomon-board study export none exported --data board
gnomon-board backup saved --data board
gnomon-board backup saved --restore --data again
gnomon-board migrate --data nowhere
"""

# For people: words that may change on purpose, each verb once. `--json` is not added.
TEXT = """
gohr rules list --family sequence
gohr rules show clockwise
gohr rules check stuck.txt --states 200
gohr rules draw
gohr run small.toml --out run
gohr status run
gohr score run
gohr verify run
gohr report run
gnomon estimate scores.csv --metric mean --resamples 100
gnomon estimate scores.csv --metric mean --resamples 100 --latex
gnomon compare scores.csv dqn sac --metric mean --resamples 100
gnomon profile scores.csv --tau 1 --resamples 100
gnomon curves curves.csv --metric mean --resamples 100
gnomon plan scores.csv dqn sac --metric mean
gnomon rank scores.csv
gnomon audit scores.csv --resamples 50
gnomon distill suite.csv --size 2
gnomon estimate nowhere.csv
gnomon estimate scores.csv --metric best
gnomon rank scores.csv --method best
gnomon --version
gohr --version
gnomon-board --version
"""

SECTIONS = {
    "scores": SCORES,
    "runs": RUNS,
    "distilled": DISTILLED,
    "board": BOARD,
    "text": TEXT,
}

#: The words after ``gohr captive``, and what a client sends.
CAPTIVE = {
    "full": (
        "reveal=true clockwise.txt board.json",
        "MOVE 1 6 7 0|MOVE 0 2|DISPLAY|EXIT",
    ),
    "standard": (
        "output=STANDARD clockwise.txt board.json",
        "MOVE 6 1 0 7|MOVE 6 1 7 0|MOVE 1 6 7 7|MOVE 1 6 7 7|EXIT",
    ),
    "errors": (
        "output=BRIEF clockwise.txt board.json",
        "hello|123|MOVE|MOVE 1|MOVE a b c d|MOVE 9 1 0 0|MOVE 6 1 5 5|MOVE 0 4|MOVE 99 1|MODE|"
        "MODE FOO|MODE BRIEF|COND|COND foo|move 0 1|VERSION|FEATURES|HELP||# comment|DISPLAYFULL|"
        "EXIT now",
    ),
    "random boards": (
        "output=FULL reveal=true seed=7 clockwise.txt 3 2 2",
        "MOVE 0 0|MOVE 1 1|MOVE 2 2|DISPLAY|MOVE 0 3|MODE STANDARD|MOVE 1 3|NEW",
    ),
    "log": (
        "output=BRIEF log=log.csv log.nickname=me log.run=3 clockwise.txt board.json",
        "MOVE 6 1 7 0|MOVE 0 0|MOVE 1 6 0 0|MOVE 1 6 7 7|EXIT",
    ),
    "bad rule": ("bad.txt 3", "EXIT"),
}

#: The learners of the run whose attempts are hashed; ``{python}`` is filled in.
LEARNERS = """
name = "learners"
rules = ["clockwise", "color-match"]
trials = 2
episodes = 4
horizon = 40
learners = [
  "uniform", "frugal", "ideal", "rule_player", "tabular_q", "linear_dqn", "reinforce",
  { kind = "tabular_q", name = "other tabular_q", learning_rate = 0.2 },
  { kind = "process", command = "{python} client.py" },
]
"""

#: Plays without a look at the seed that it is told, which depends on where Python lies.
CLIENT = """
import json, random, sys

rng = random.Random(1)

def hear():
    lines = []
    while len(lines) < 2:
        line = sys.stdin.readline()
        if not line:
            sys.exit()
        if not line.startswith("#"):
            lines.append(line)
    return [int(n) for n in lines[0].split()], json.loads(lines[1])["value"]

while True:
    status, pieces = hear()
    if status[1]:
        print("NEW", flush=True)
    else:
        print("MOVE", rng.choice(pieces)["id"], rng.randrange(4), flush=True)
"""

_FILES = {
    "client.py": CLIENT,
    "clockwise.txt": "(1,*,*,*,*)\n(*,*,*,*,p+1)\n",
    "bad.txt": "(1,*,*,*\n",
    "stuck.txt": "(*,*,red,*,0)\n(shape:star, color:nothing, bucket:5)\n",
    "mine.txt": "(shape:star, bucket:0) (shape:[square,circle,triangle], bucket:3)\n",
    "board.json": '{"id": 5, "name": "two", "value": [\n'
    '{"id": 0, "color": "RED", "shape": "STAR", "x": 1, "y": 6},\n'
    '{"id": "7", "color": "blue", "shape": "square", "x": 6, "y": 1}]}\n',
    "small.toml": 'name = "small"\nrules = ["clockwise", "color-match"]\n'
    'learners = ["uniform", "frugal", "rule_player"]\ntrials = 3\nepisodes = 12\nhorizon = 60\n',
    "season.toml": 'name = "s1"\ndivision = "replayed"\nrules = ["clockwise"]\n'
    "trials = 1\nepisodes = 3\nhorizon = 30\n",
    "hidden.toml": 'name = "s2"\ndivision = "hidden"\n'
    'trials = 1\nepisodes = 3\nhorizon = 30\n[hidden]\nrules = ["mine.txt"]\n',
    "study.toml": 'name = "pilot"\ntitle = "Which rules?"\nconsent = "All is kept."\n'
    'episodes = 1\nhorizon = 4\n[lists]\na = ["anything-goes"]\n',
}


def write_inputs(folder: Path) -> None:
    """Write the files that the commands read: scores from a seeded generator, rules, plans."""
    for name, text in _FILES.items():
        (folder / name).write_text(text)
    rng = np.random.default_rng(20)
    algorithms = ["dqn", "sac", "ppo", "a2c"]
    tasks = [f"t{j}" for j in range(1, 7)]
    x = rng.gamma(4.0, 0.25, (4, 6, 5)) * np.array([1.0, 1.2, 1.5, 0.9])[:, None, None]
    runs = [
        [a, t, k, x[i, j, k].round(6)]
        for i, a in enumerate(algorithms)
        for j, t in enumerate(tasks)
        for k in range(5)
    ]
    head = ["algorithm", "task", "run", "score"]
    _write(folder / "scores.csv", [head, *runs])
    steps = [[*r[:3], s, round(float(r[3]) * s**0.5, 6)] for r in runs for s in (1, 2, 3, 4)]
    _write(folder / "curves.csv", [[*head[:3], "step", "score"], *steps])
    games = dict(zip(tasks, ["Pong", "Breakout", "Alien", "Asterix"], strict=False))
    raw = [[r[0], games[r[1]], r[2], round(200 * r[3], 6)] for r in runs if r[1] in games]
    _write(folder / "games.csv", [head, *raw])
    means = [
        [a, t, x[i, j].mean().round(6), x[i, j].std(ddof=1).round(6), 5]
        for i, a in enumerate(algorithms)
        for j, t in enumerate(tasks)
    ]
    _write(folder / "summaries.csv", [["algorithm", "task", "mean", "std", "runs"], *means])
    wide = rng.gamma(3.0, 10.0, (7, 12)).round(4)
    names = [f"t{j}" for j in range(1, 13)]
    _write(
        folder / "wide.csv",
        [["algorithm", *names], *([f"m{i}", *row] for i, row in enumerate(wide))],
    )
    skill = rng.normal(0, 1, (30, 1))
    suite = np.exp(skill * rng.uniform(0.4, 1.4, 8) + rng.normal(2, 0.4, (30, 8)))
    suite = (99 * suite / suite.max()).round(5) + 0.5
    models = [[f"m{i:02}", *row] for i, row in enumerate(suite)]
    _write(folder / "suite.csv", [["algorithm", *names[:8]], *models])
    grouped = [
        [m[0], f"f{i % 6}", t, 0, m[j + 1]]
        for i, m in enumerate(models)
        for j, t in enumerate(names[:8])
    ]
    _write(folder / "grouped.csv", [["algorithm", "family", *head[1:]], *grouped])
    _write(folder / "costs.csv", [["task", "cost"], *([t, 1 + j] for j, t in enumerate(names[:8]))])
    references = [[t, 0.1 * j, 60 + j] for j, t in enumerate(names[:8])]
    _write(folder / "references.csv", [["task", "random", "human"], *references])


def _write(path: Path, rows: list[list[object]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
