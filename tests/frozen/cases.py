"""What is frozen: the commands of each section, and the small files that they are given.

A command is what follows ``gnomon``; ``--json`` is added. Each section plays in a folder of its
own, its commands in this order, for later ones read what earlier ones have written.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

# ruff: noqa: E501 (a command is a line)

SCORES = """
estimate scores.csv
estimate scores.csv --metric mean --metric iqm --metric optimality_gap --method percentile --resamples 300
estimate scores.csv --metric mean --method bca --resamples 300
estimate scores.csv --metric mean --method small_sample
estimate scores.csv --metric iqm --per-task --resamples 300
estimate scores.csv --metric mean --resampling runs_and_tasks --resamples 300
estimate scores.csv --metric optimality_gap --gamma 1.5 --level 0.8 --resamples 300 --seed 3
estimate scores.csv --metric mean --normalize min-max --resamples 300
estimate scores.csv --metric mean --normalize percentile --resamples 300
estimate scores.csv --metric mean --normalize reference:sac --resamples 300
estimate games.csv --metric mean --normalize random-human --resamples 300
estimate games.csv --metric mean --where task=Pong --resamples 300
estimate wide.csv --metric median --resamples 300
estimate summaries.csv
estimate summaries.csv --metric mean --lower-is-better
estimate curves.csv --metric mean --resamples 300
estimate nowhere.csv
estimate scores.csv --metric best
compare scores.csv dqn sac --resamples 300
compare scores.csv dqn sac --metric probability_of_improvement --resamples 300
compare scores.csv dqn sac --metric mean --per-task --method percentile --resamples 300
compare scores.csv dqn sac --metric mean --method small_sample
compare scores.csv dqn sac --metric iqm --paired --resamples 300
compare scores.csv --metric mean --resamples 300
compare scores.csv --metric iqm --lower-is-better --normalize min-max --resamples 300
compare summaries.csv dqn sac
profile scores.csv --resamples 200 --tau 0.5 --tau 1
profile scores.csv --kind average_score --spacing log --resamples 200 --algorithm dqn
profile scores.csv --kind ratio --tau 0.5 --tau 1 --tau 2
profile scores.csv --kind likelihood --tau 0.5 --tau 1 --tau 2
profile scores.csv --kind likelihood --df as_published --tau 1
profile scores.csv --kind permutation --tau 0.5 --tau 1
profile scores.csv --kind run_score --band simultaneous --spacing data --resamples 200 --algorithm sac
profile scores.csv --band none --tau 1
profile summaries.csv --kind likelihood --tau 1
profile summaries.csv --kind ratio --tau 1
curves curves.csv --metric mean --resamples 200
curves curves.csv --metric iqm --method percentile --algorithm dqn --resamples 200
curves curves.csv --summary area --metric mean --resamples 200
curves curves.csv --summary best --metric mean --resamples 200
curves curves.csv --summary final --metric mean --resamples 200
curves curves.csv --summary time_to_threshold --threshold 2 --metric mean --resamples 200
plan scores.csv dqn sac --simulations 20
plan scores.csv --simulations 20 --runs 5 --runs 10 --power 0.9 --metric mean
plan scores.csv dqn sac --simulations 20 --metric mean
plan scores.csv --way widths --simulations 20 --metric mean
plan scores.csv dqn sac --way sequential --runs 3 --runs 5
rank scores.csv
rank scores.csv --by task
critical-difference wide.csv
critical-difference wide.csv --test nemenyi
rank scores.csv --resample-tasks
rank scores.csv --method gohr-ev
rank scores.csv --method bradley-terry
rank scores.csv --method mean-rank
rank scores.csv --method kemeny
rank scores.csv --method best
audit scores.csv --resamples 100
audit wide.csv --resamples 100
audit summaries.csv
audit games.csv --resamples 100 --normalize random-human --out audited
score scores.csv
score scores.csv --where task=t1
score wide.csv
"""

RUNS = """
rules list
rules list --family sequence
rules show clockwise
rules show bad.txt
rules check clockwise color-match
rules check stuck.txt --states 200
rules check bad.txt
rules generate
rules generate cycle-of-two --out family
run small.toml --out run
run small.toml --out run --dry-run
run small.toml --out run
run clockwise --learners uniform,frugal --trials 1 --episodes 2 --seed 5 --out other
run clockwise --learners all --dry-run
run nowhere.toml
status run
score run
score run --metric errors_to_learn
score run --metric episodes_to_learn
score run --metric learned
score run --metric cumulated_errors
score run --metric move_accuracy
score run --metric tce --leave-out-empty-cells --out tce.csv
estimate run --score tce --resamples 100
compare run uniform frugal --resamples 100
profile run --tau 5 --tau 20 --resamples 100
curves run --resamples 100 --metric mean
plan run uniform frugal --simulations 10 --metric mean
rank run
rank run --by task
audit run --resamples 50
verify run
report run
verify other
captive
"""

DISTILLED = """
distill suite.csv --size 2
distill suite.csv --size 2 --procedure factor --procedure complete --procedure paper --procedure paper-code --nested none
distill suite.csv --size 2 --procedure auto --nested algorithms --top 3
distill suite.csv --size 3 --summary iqm --transform identity --force t1 --exclude t2 --folds 5 --seed 2
distill suite.csv --size 2 --summary mean_log --repeats 2 --folds 4
distill suite.csv --size 2 --model model.json --nested none
distill suite.csv --size 2 --references references.csv --transform identity --nested none
distill grouped.csv --size 2 --group-by family --nested groups
distill suite.csv --size 20
"""

BOARD = """
leaderboard migrate --data board
leaderboard token ada --data board
leaderboard token root --scope admin --days 2 --data board
leaderboard season new season.toml --data board
leaderboard season new hidden.toml --data board
leaderboard season new hidden.toml --data board
leaderboard season reveal s2 --data board
leaderboard season reveal s2 --early --out reveal.json --data board
leaderboard check-reveal reveal.json
leaderboard check-reveal reveal.json --commitment 0000000000000000000000000000000000000000000000000000000000000000
leaderboard check-reveal season.toml
leaderboard study new study.toml --public-url http://b.example/ --data board
leaderboard study list --data board
leaderboard study invite pilot --data board
leaderboard study close pilot --data board
leaderboard study close pilot --data board
leaderboard study export pilot exported --data board
leaderboard study export none exported --data board
leaderboard backup saved --data board
leaderboard restore saved --data again
leaderboard migrate --data nowhere
"""

# For people: words that may change on purpose, each verb once. `--json` is not added.
TEXT = """
rules list --family sequence
rules show clockwise
rules check stuck.txt --states 200
rules generate
run small.toml --out run
status run
score run
verify run
report run
estimate scores.csv --metric mean --resamples 100
estimate scores.csv --metric mean --resamples 100 --latex
compare scores.csv dqn sac --metric mean --resamples 100
profile scores.csv --tau 1 --resamples 100
curves curves.csv --metric mean --resamples 100
plan scores.csv dqn sac --simulations 10 --metric mean
rank scores.csv
audit scores.csv --resamples 50
distill suite.csv --size 2 --nested none
estimate nowhere.csv
estimate scores.csv --metric best
rank scores.csv --method best
--version
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
        "output=FULL reveal=true seed=7 pipelined=true clockwise.txt 3 2 2",
        "MOVE 0 0|MOVE 1 1|MOVE 2 2|NEW|DISPLAY|MOVE 0 3|MODE STANDARD|MOVE 1 3|NEW|EXIT",
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
    "season.toml": 'name = "s1"\ndivision = "open"\nrules = ["clockwise"]\n'
    "trials = 1\nepisodes = 3\nhorizon = 30\n",
    "hidden.toml": 'name = "s2"\ndivision = "hidden"\nrules = ["clockwise"]\n'
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
