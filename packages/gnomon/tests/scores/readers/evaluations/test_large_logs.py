"""Logs of 100,000 samples: read in seconds, in memory that grows with their columns."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from evaluation_logs import head, lm_eval_line, sample, write_eval, write_lm_eval

N = 100_000
#: Seconds of processor time, and MB at the most.
MOST_SECONDS, MOST_MB = 15, 1000
READ = """
import re, sys, time
from pathlib import Path
from gnomon.scores import read_scores
begin = time.process_time()
table = read_scores(sys.argv[1], cluster="topic")
assert len(table) == int(sys.argv[2]), len(table)
seconds = time.process_time() - begin
# Not that of getrusage, which counts the process that started this one.
peak = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())
print(seconds, int(peak[1]) / 1024)
"""


def samples(text):
    for i in range(N):
        yield sample(i, text=f"{text} {i}?", uuid=f"u{i:021d}")


@pytest.mark.full
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no peak of memory is told here")
@pytest.mark.parametrize("form", ["eval", "json", "lm-eval"])
def test_a_large_log_is_read_piece_by_piece(tmp_path, form):
    text = "Which of these statements on the subject is true, " * 6
    path = tmp_path / f"a.{form}"
    if form == "eval":
        write_eval(path, list(samples(text)))
    elif form == "json":
        about = json.dumps(head())[:-1]
        rows = (json.dumps(one | {"messages": [{"content": text * 5}]}) for one in samples(text))
        with path.open("w") as file:
            file.write(f'{about}, "samples": [{next(rows)}')
            file.writelines(f", {row}" for row in rows)
            file.write("]}")
    else:
        lines = (lm_eval_line(i, text=f"{text} {i}", acc=i % 2) for i in range(N))
        write_lm_eval(path, "m", {"quiz": lines})
    command = [sys.executable, "-c", READ, str(path), str(N)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    seconds, megabytes = map(float, done.stdout.split())
    assert seconds < MOST_SECONDS
    assert megabytes < MOST_MB
