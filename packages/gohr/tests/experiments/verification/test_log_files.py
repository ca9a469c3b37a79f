"""What strangers send as a log: what is read, and what is refused."""

from __future__ import annotations

import io
import pickle
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gohr import TrialLog
from gohr.errors import ConfigError
from gohr.experiments import ExperimentConfig, attempt_bytes, read_log, trials_of, write_log

CONFIG = ExperimentConfig("small", ["clockwise", "red-first"], ["uniform"], trials=2, episodes=3)
TRIALS = {(trial.rule.name, trial.number): trial.play() for trial in trials_of(CONFIG)}
LOG = write_log(TRIALS)
N_ROWS = sum(log.actions.size for log in TRIALS.values())
N_BYTES = sum(len(attempt_bytes(log)) for log in TRIALS.values())


def read(data: bytes) -> dict[tuple[str, int], TrialLog]:
    """Read a log as a board does."""
    return read_log(data, max_rows=N_ROWS, max_bytes=N_BYTES)


def archive(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as packed:
        for name, data in members.items():
            packed.writestr(name, data)
    return out.getvalue()


def test_a_log_is_read_back():
    back = read(LOG)
    assert list(back) == list(TRIALS)
    assert [*map(attempt_bytes, back.values())] == [*map(attempt_bytes, TRIALS.values())]
    assert write_log(back) == LOG
    assert read_log(write_log({})) == {}
    key, *_ = logs = read(LOG)
    (alone,) = read_log(LOG, only=key, max_bytes=len(attempt_bytes(logs[key]))).values()
    assert attempt_bytes(alone) == attempt_bytes(logs[key])
    assert read_log(LOG, only=("no such rule", 0)) == {}


def test_an_argument_of_another_kind_is_named():
    log = TRIALS["clockwise", 0]
    given: Any
    for found, given in {
        "TrialLog: 3 boards": log,
        "the key 'clockwise'": {"clockwise": log},
        "3": {("clockwise", 0): 3},
    }.items():
        with pytest.raises(TypeError, match=rf"^trials.*: expected .*TrialLog.*, found {found}"):
            write_log(given)
    with pytest.raises(TypeError, match=r"the bytes of a log, .* found 'l\.zip'"):
        read_log("l.zip")  # type: ignore[arg-type]  # the wrong type is what is tested


def test_attempts_and_bytes_are_limited():
    with pytest.raises(ConfigError, match=f"expected at most {N_ROWS - 1} attempts, found more"):
        read_log(LOG, max_rows=N_ROWS - 1)
    with pytest.raises(
        ConfigError, match=f"expected at most {N_BYTES - 1} bytes unpacked, found {N_BYTES}"
    ):
        read_log(LOG, max_bytes=N_BYTES - 1)
    bomb = archive({f"clockwise/{n}": bytes(1 << 20) for n in range(300)})
    assert len(bomb) < 1 << 20
    with pytest.raises(ConfigError, match=f"expected at most {N_BYTES} bytes unpacked"):
        read(bomb)


def lying(data: bytes, size: int) -> bytes:
    """Return an archive whose directory gives its first member another unpacked size."""
    at = data.index(b"PK\x01\x02") + 24
    return data[:at] + size.to_bytes(4, "little") + data[at + 4 :]


def test_no_more_is_unpacked_than_the_directory_announces():
    with pytest.raises(ConfigError, match="Bad CRC-32"):
        read(lying(archive({"clockwise/0": bytes(50_000_000)}), 100))


class Evil:
    """What runs a program when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (Path("/tmp/gnomon-was-here"),))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "expected a log, a ZIP archive of trials: "),
        (pickle.dumps(Evil()), "expected a log, a ZIP archive of trials: "),
        (LOG[:-30], "expected a log, a ZIP archive of trials: "),
        (archive({"clockwise/0": pickle.dumps(Evil())}), "trial 'clockwise/0': expected boards"),
        (archive({"../../etc/passwd": b""}), "trial '../../etc/passwd': invalid literal"),
        (archive({"clockwise": b""}), "trial 'clockwise': "),
        (archive({"clockwise/0": b"x"}, zipfile.ZIP_LZMA), "expected a member packed by"),
        (archive({"r/0": b"x"}, zipfile.ZIP_BZIP2).replace(b"BZh", b"BZx"), "packed by deflate"),
        (archive({"r/1": attempt_bytes(TRIALS["clockwise", 0]), "r/01": b""}), "trial 'r/01'"),
        (zlib.compress(LOG), "expected a log, a ZIP archive of trials: "),
    ],
    ids=[
        "empty", "pickle", "cut", "pickle in it", "path", "no number", "lzma", "bzip2", "twice",
        "zlib",
    ],
)  # fmt: skip
def test_what_is_not_a_log_is_refused_and_never_run(data, expected):
    with pytest.raises(ConfigError, match=expected) as error:
        read(data)
    assert "\n" not in str(error.value)
    assert not Path("/tmp/gnomon-was-here").exists()


def header(n_episodes: int, n_rows: int, width: int = 36) -> bytes:
    return np.array([n_episodes, n_rows], "<u4").tobytes() + bytes([width, 0, 0])


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (header(2**32 - 1, 2**32 - 1), "buffer"),
        (header(0, 0, width=9), "expected boards of 36 cells"),
        (header(0, 0) + b"x", "expected 11 bytes of 0 attempts, found 12"),
        (
            header(2, 0) + np.array([-1, 1], "<i4").tobytes() + bytes(2 + 72),
            "expected 93 bytes of 0 attempts",
        ),
    ],
)
def test_a_header_that_lies_is_refused(raw, expected):
    with pytest.raises(ConfigError, match=expected):
        read(archive({"clockwise/0": raw}))


@given(st.integers(0, 8 * len(LOG) - 1))
def test_a_flipped_bit_is_refused_or_changes_no_attempt(bit):
    data = bytearray(LOG)
    data[bit // 8] ^= 1 << bit % 8
    try:
        back = read(bytes(data))
    except ConfigError:
        return
    expected = {attempt_bytes(log) for log in TRIALS.values()}
    assert {attempt_bytes(log) for log in back.values()} <= expected
