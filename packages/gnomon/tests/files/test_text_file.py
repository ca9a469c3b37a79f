"""A text that cannot be had is told in one line."""

from pathlib import Path

import pytest

from gnomon.errors import GnomonError, ScoreDataError
from gnomon.text_files import read_text


def test_a_text_is_what_the_file_holds(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffä\r\nb".encode())
    assert read_text(path) == "\ufeffä\r\nb"
    assert read_text(path, most_bytes=8) == "\ufeffä\r\nb"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"0123456789", "expected a plan of at most 8 bytes"),
        (b"abc\xff", "expected UTF-8 text, found byte 0xff at offset 3"),
        (None, "cannot read this plan: No such file or directory"),
    ],
)
def test_what_is_no_text_is_told_with_its_name(tmp_path, data, message):
    path = tmp_path / "a.txt"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ScoreDataError) as error:
        read_text(path, noun="plan", error=ScoreDataError, most_bytes=8)
    assert str(error.value) == f"{path}: {message}"


def test_a_file_without_an_end_is_read_no_further():
    with pytest.raises(GnomonError, match=r"^/dev/zero: expected a file of at most 1,000 bytes$"):
        read_text(Path("/dev/zero"), most_bytes=1000)
