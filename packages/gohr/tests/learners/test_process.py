"""Programs that play: a good one, which plays on the server too, and all kinds of bad ones."""

import gc
import shlex
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from gnomon.errors import GnomonError
from gohr import BoardSpec, draw_boards, play
from gohr.errors import ConfigError
from gohr.learners import make_learner
from gohr.rules import load_rule, parse

CLIENT = """
import json, os, random, sys

def hear():
    lines = []
    while len(lines) < 2:
        line = sys.stdin.readline()
        if not line:
            sys.exit()
        if not line.startswith("#"):
            lines.append(line)
    return [int(n) for n in lines[0].split()], json.loads(lines[1])["value"]

rng = random.Random(int(os.environ.get("GNOMON_SEED", "1")))
status, pieces = hear()
episodes = 0
while True:
    if status[1]:
        episodes += 1
        if len(sys.argv) > 1 and episodes == int(sys.argv[1]):
            print("EXIT", flush=True)
            break
        print("NEW", flush=True)
    else:
        piece = rng.choice(pieces)
        if rng.random() < 0.5:
            print("MOVE", piece["id"], rng.randrange(4), flush=True)
        else:
            y, x = rng.choice([(7, 0), (7, 7), (0, 7), (0, 0)])
            print("MOVE", piece["y"], piece["x"], y, x, flush=True)
    status, pieces = hear()
"""


@pytest.fixture
def program(tmp_path):
    def write(text, *arguments):
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(text))
        return shlex.join([sys.executable, str(path), *arguments])

    return write


def played(command, n_boards=4, horizon=100, rule="clockwise", **settings):
    rng = np.random.default_rng(0)
    learner = make_learner("process", BoardSpec(), rng=rng, command=command, **settings)
    boards = draw_boards(n_boards, rng=np.random.default_rng(1))
    return play(boards, learner, load_rule(rule), horizon=horizon)


@pytest.mark.parametrize("output", ["STANDARD", "FULL"])
def test_a_client_of_the_server_plays_a_trial(program, output):
    command = program(CLIENT)
    log = played(command, output=output)
    assert log.finish.tolist() == [1] * 4
    assert set(log.outcomes.tolist()) == {0, 4}
    again = played(command, output=output)
    assert log.actions.tolist() == again.actions.tolist()


def test_the_same_client_plays_on_the_server(program, tmp_path):
    rule = tmp_path / "rule.txt"
    rule.write_text("(*,*,*,*,[0,1])\n")
    server = "from gohr.cli import main; main()"
    client = subprocess.Popen(
        shlex.split(program(CLIENT, "2")), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with client:
        done = subprocess.run(
            [sys.executable, "-c", server, "captive", str(rule), "3", "output=STANDARD", "seed=1"],
            stdin=client.stdout,
            stdout=client.stdin,
            stderr=subprocess.PIPE,
            timeout=60,
        )
    assert done.returncode == 0, done.stderr
    assert client.returncode == 0


def test_an_episode_that_is_cut_off_goes_on_with_new(program):
    log = played(program(CLIENT), horizon=5)
    assert log.n_attempts.tolist() == [5] * 4


def test_a_stalemate_is_told(program):
    rng = np.random.default_rng(0)
    learner = make_learner("process", BoardSpec(), rng=rng, command=program(CLIENT))
    log = play(draw_boards(3, rng=rng), learner, parse("(*,star,*,*,*)"))
    assert log.finish.tolist() == [2, 2, 2]


def test_what_is_no_attempt_is_answered_and_does_not_count(program, tmp_path):
    said = tmp_path / "said.txt"
    text = f"""
        import sys
        heard = open({str(said)!r}, "w")
        def hear(n):
            for _ in range(n):
                heard.write(sys.stdin.readline())
            heard.flush()
        hear(3)
        for line, n in [("", 0), ("HELP", 10), ("VERSION", 1), ("FEATURES", 1), ("DISPLAY", 1),
                        ("MODE", 2), ("COND", 1), ("NEW", 2), ("MOVE 99 0", 2), ("MOVE 0 9", 2),
                        ("MOVE 1 1 2 2", 2), ("MOVE a b", 2), ("JUMP", 2), ("!", 2),
                        ("MODE STANDARD", 1), ("DISPLAYFULL", 10), ("MODE BRIEF", 1),
                        ("MOVE 0 0", 2), ("MOVE 0 0", 2), ("NEW", 3), ("MOVE 0 0", 2)]:
            print(line, flush=True)
            hear(n)
        sys.stdin.read()
    """
    rng = np.random.default_rng(0)
    learner = make_learner(
        "process", BoardSpec(), rng=rng, command=program(text), output="BRIEF", timeout_s=20
    )
    boards = np.zeros((2, 36), dtype=np.uint8)
    boards[:, 30] = 1
    log = play(boards, learner, parse("(*,*,*,*,0)"))
    assert log.outcomes.tolist() == [0, 0]
    del learner
    gc.collect()
    statuses = [line for line in said.read_text().splitlines() if line[0] not in "#{"]
    assert statuses == [
        *("6 0 0", "-2 0 0", "-2 0 0", "-10 0 0", "-2 0 0", "-2 0 0", "-2 0 0", "-1 0 0"),
        *("-1 0 0", "0 1 1", "-4 1 1", "6 0 0", "0 1 1"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import sys; sys.exit('no game for me')", "ended with status 1.*ends: no game for me"),
        ("import time; time.sleep(30)", "found none within 0.5 s"),
        ("print('EXIT', flush=True); input()", "expected it to play on, found EXIT in episode 1"),
        ("while True: print('HELP', flush=True)", "expected an attempt, found 1000 other lines"),
    ],
)
def test_a_bad_program_is_an_error_and_is_stopped(program, text, message):
    with pytest.raises(GnomonError, match=f"(?s)learner 'process': .*{message}"):
        played(program(text), timeout_s=0.5 if "sleep" in text else 20)


def test_a_program_is_ended_with_what_it_started(program, tmp_path):
    said = tmp_path / "pid"
    text = f"""
        import subprocess, sys
        other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        open({str(said)!r}, "w").write(str(other.pid))
        print("EXIT", flush=True)
        sys.stdin.read()
    """
    with pytest.raises(GnomonError, match="found EXIT"):
        played(program(text))
    gc.collect()
    for _ in range(100):
        try:
            if Path(f"/proc/{said.read_text()}/stat").read_text().split()[2] == "Z":
                return
        except FileNotFoundError:
            return
        time.sleep(0.1)
    pytest.fail("the process that the program started is still there")


def test_a_program_that_is_not_there():
    with pytest.raises(GnomonError, match="cannot start no-such-program: No such file"):
        played("no-such-program")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "command: expected the command line of a program, found ''"),
        ({"command": "'"}, "command: no closing quotation in"),
        ({"command": "x", "timeout_s": 0}, "timeout_s: .* a number above 0 and .*, found 0"),
        ({"command": "x", "timeout_s": 1e10}, "timeout_s: .* at most 1,000,000, found 1"),
        ({"command": "x", "output": "full"}, "output: expected 'BRIEF' or 'STANDARD' or 'FULL'"),
    ],
)
def test_a_wrong_setting_is_told(settings, message):
    with pytest.raises(ConfigError, match=f"learner 'process': {message}"):
        make_learner("process", BoardSpec(), rng=np.random.default_rng(0), **settings)
