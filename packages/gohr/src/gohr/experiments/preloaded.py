"""Imported by the server that forks worker processes: it loads what every trial needs, once.

The process that starts the run compiles the rest and announces it.
"""

from contextlib import suppress
from pathlib import Path

from gohr.experiments.trial import prepare
from gohr.playing_kernel import replay_rows

with suppress(Exception):  # each worker reports it
    if any(Path(replay_rows.stats.cache_path or "").glob("playing_kernel.replay_rows-*.nbi")):
        prepare()
