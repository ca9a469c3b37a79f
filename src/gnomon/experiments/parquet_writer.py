"""A small table as the bytes of a Parquet file: one row group, each column one page and its values.

A run writes one such file a trial, some in ten milliseconds. A library of tables takes longer over
so small a one than this does, for it hands the work to threads of its own; and its bytes change
with its versions, whereas the hash of these is part of a run's journal. Reading is left to the
libraries.

The format is that of Apache Parquet 2 (parquet-format, ``parquet.thrift`` and ``Encodings.md``):
dictionaries, and codes packed to 1, 2, 4, 8, 16 or 32 bits. Who writes knows the few values that a
column can have, so nothing is searched for here, and what is worth the time of compressing it.

A file may be sealed: what it tells of itself then holds a hash of everything else in it and of the
name that it goes by, so that a file that was changed, or took another's place, is known by itself.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

_MAGIC = b"PAR1"
# Numbers that the format gives to its types, encodings and kinds of pages.
_INT32, _DOUBLE, _BYTE_ARRAY = 1, 5, 6
_PLAIN, _RLE, _RLE_DICTIONARY = 0, 3, 8
_DATA_PAGE, _DICTIONARY_PAGE = 0, 2
_UNCOMPRESSED, _GZIP = 0, 2
#: Of each kind of column: the physical type, and what it is to be read as.
_TYPES = {
    "int32": (_INT32, None),
    "uint8": (_INT32, 11),
    "int8": (_INT32, 15),
    "float64": (_DOUBLE, None),
    "bytes": (_BYTE_ARRAY, None),
}
#: By number of bits, what codes are before they are packed, and what each is worth in its byte.
_DTYPES = {bits: np.dtype(f"<u{max(1, bits // 8)}") for bits in (1, 2, 4, 8, 16, 32)}
_PLACES = {bits: np.uint8(1) << np.arange(0, 8, bits, dtype=np.uint8) for bits in (1, 2, 4)}


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A column of a table.

    Parameters
    ----------
    name : str
    kind : {"int32", "uint8", "int8", "float64", "bytes"}
    values : numpy.ndarray, shape (n_distinct,)
        What may stand in it; for "bytes" of uint8, shape (n_values, length), what stands in it.
    codes : numpy.ndarray of unsigned or signed int, shape (n_values,)
        Which of ``values`` stands in each row that has one; nothing for "bytes".
    present : numpy.ndarray of bool, shape (n_rows,), optional
        Which rows have a value; all if not given.
    compressed : bool
        Whether its pages are compressed, as gzip; for what repeats itself.
    """

    name: str
    kind: Literal["int32", "uint8", "int8", "float64", "bytes"]
    values: npt.NDArray[Any]
    codes: npt.NDArray[np.integer] | None = None
    present: npt.NDArray[np.bool_] | None = None
    compressed: bool = False


def parquet_bytes(columns: Sequence[Column], n_rows: int, *, sealed_as: str | None = None) -> bytes:
    """Return a table as a Parquet file: the same table, the same bytes.

    With ``sealed_as``, the name of the file, it is sealed; see :func:`is_sealed`.
    """
    out = bytearray(_MAGIC)
    chunks = []
    for column in columns:
        pages = _pages(column, n_rows)
        places = list(accumulate((len(page) for page, _ in pages), initial=len(out)))
        n_bytes = sum(n for _, n in pages)
        chunks.append(_chunk(column, n_rows, places, n_bytes))
        out += b"".join(page for page, _ in pages)
    row_group = _struct({1: _list(12, chunks), 2: _i64(len(out)), 3: _i64(n_rows)})
    footer = _struct(
        {
            1: _i32(2),
            2: _list(12, [_root(len(columns)), *(_element(c.name, c.kind) for c in columns)]),
            3: _i64(n_rows),
            4: _list(12, [row_group]),
        }
        | (
            {}
            if sealed_as is None
            else {5: _list(12, [_struct({1: _text("sha256"), 2: _NO_SEAL})])}
        )
        | {6: _MAKER}
    )
    data = bytes(out + footer + struct.pack("<i", len(footer)) + _MAGIC)
    return data if sealed_as is None else _with_seal(data, _seal(data, sealed_as))


def is_sealed(data: bytes, name: str) -> bool:
    """Return whether a file is, bit for bit, what was sealed under a name."""
    return data.startswith(_MAGIC) and data == _with_seal(data, _seal(data, name))


def _seal(data: bytes, name: str) -> bytes:
    """Return the seal of a file: the hash of its name, and of it with zeros in the seal's place."""
    blank = _with_seal(data, b"0" * _SEAL_LENGTH)
    return hashlib.sha256(name.encode() + b"\0" + blank).hexdigest().encode()


def _with_seal(data: bytes, seal: bytes) -> bytes:
    """Return a file with another seal: nothing but who made it and the footer's end is after it."""
    after = len(b"\0" + _fields({6: _MAKER}, after=5) + b"\0") + 4 + len(_MAGIC)
    return data[: -after - _SEAL_LENGTH] + seal + data[-after:]


def _pages(column: Column, n_rows: int) -> list[_Page]:
    """Return the pages of a column: its values, where they are given as such, and its rows."""
    levels = _levels(column.present, n_rows)
    if column.codes is None:
        cells = np.empty((len(column.values), 4 + column.values.shape[1]), dtype=np.uint8)
        cells[:, :4] = list(struct.pack("<i", column.values.shape[1]))
        cells[:, 4:] = column.values
        rows, header = levels + cells.tobytes(), _data_header(n_rows, _PLAIN)
        return [_page(_DATA_PAGE, rows, header, column.compressed)]
    plain = column.values.astype("<f8" if column.kind == "float64" else "<i4").tobytes()
    rows = levels + _packed(column.codes, len(column.values))
    return [
        _dictionary_page(plain, len(column.values), column.compressed),
        _page(_DATA_PAGE, rows, _data_header(n_rows, _RLE_DICTIONARY), column.compressed),
    ]


#: The bytes of a page, and how many they would be if they were not compressed.
_Page = tuple[bytes, int]


def _page(kind: int, data: bytes, header: bytes, compressed: bool) -> _Page:
    packed = _gzip(data) if compressed else data
    sizes = {1: _i32(kind), 2: _i32(len(data)), 3: _i32(len(packed))}
    head = _struct(sizes | {5 if kind == _DATA_PAGE else 7: (12, header)})
    return head + packed, len(head) + len(data)


@lru_cache(256)
def _dictionary_page(plain: bytes, n_distinct: int, compressed: bool) -> _Page:
    """Return the values that a column can have, which nearly every table has again."""
    header = _struct({1: _i32(n_distinct), 2: _i32(_PLAIN)})
    return _page(_DICTIONARY_PAGE, plain, header, compressed)


@lru_cache
def _data_header(n_rows: int, encoding: int) -> bytes:
    return _struct({1: _i32(n_rows), 2: _i32(encoding), 3: _i32(_RLE), 4: _i32(_RLE)})


def _packed(codes: npt.NDArray[np.integer], n_distinct: int) -> bytes:
    """Return codes as one bit-packed run, behind the number of bits of each."""
    n_bits = next(bits for bits in _DTYPES if n_distinct <= 1 << bits)
    n_groups = -(-codes.size // 8)
    if n_bits < 8:
        padded = np.zeros(8 * n_groups, dtype=np.uint8)
        padded[: codes.size] = codes
        data = (padded.reshape(-1, 8 // n_bits) @ _PLACES[n_bits]).tobytes()
    else:
        data = codes.astype(_DTYPES[n_bits]).tobytes()
    return bytes([n_bits]) + _varint(n_groups << 1 | 1) + data.ljust(n_groups * n_bits, b"\0")


def _levels(present: npt.NDArray[np.bool_] | None, n_rows: int) -> bytes:
    """Return which rows have a value, as the format has it, behind its length."""
    if present is None:
        return _all_present(n_rows)
    bits = np.packbits(present, bitorder="little").tobytes()
    return _behind_length(_varint(len(bits) << 1 | 1) + bits)


@lru_cache
def _all_present(n_rows: int) -> bytes:
    return _behind_length(_varint(n_rows << 1) + b"\1")


def _behind_length(data: bytes) -> bytes:
    return struct.pack("<i", len(data)) + data


def _gzip(data: bytes) -> bytes:
    compressor = zlib.compressobj(level=1, wbits=31)
    return compressor.compress(data) + compressor.flush()


# What the file tells of itself: the format's records, in the compact protocol of Apache Thrift. A
# field is a pair of the number of its type and its bytes.

_Field = tuple[int, bytes]


def _root(n_columns: int) -> bytes:
    return _struct({4: _text("schema"), 5: _i32(n_columns)})


@lru_cache
def _element(name: str, kind: str) -> bytes:
    """Return what the schema says of a column; any may lack values."""
    physical, read_as = _TYPES[kind]
    fields = {1: _i32(physical), 3: _i32(1), 4: _text(name)}
    return _struct(fields if read_as is None else fields | {6: _i32(read_as)})


def _chunk(column: Column, n_rows: int, places: Sequence[int], n_bytes: int) -> bytes:
    """Return what is in the pages of a column, and where they begin and the last one ends.

    The last is the data page.
    """
    fields = {
        5: _i64(n_rows),
        6: _i64(n_bytes),
        7: _i64(places[-1] - places[0]),
        9: _i64(places[-2]),
    }
    if len(places) == 3:
        fields[11] = _i64(places[0])
    described = _description(column.name, column.kind, column.compressed)
    return _struct({2: _i64(places[0]), 3: (12, described + _fields(fields, after=4) + b"\0")})


@lru_cache
def _description(name: str, kind: str, compressed: bool) -> bytes:
    """Return the first four fields of what the file says of a column's pages."""
    encodings = [_zigzag(_PLAIN), _zigzag(_RLE), _zigzag(_RLE_DICTIONARY)]
    return _fields(
        {
            1: _i32(_TYPES[kind][0]),
            2: _list(5, encodings),
            3: _list(8, [_text(name)[1]]),
            4: _i32(_GZIP if compressed else _UNCOMPRESSED),
        }
    )


def _struct(fields: dict[int, _Field]) -> bytes:
    """Return a record."""
    return _fields(fields) + b"\0"


def _fields(fields: dict[int, _Field], after: int = 0) -> bytes:
    """Return fields, each behind its type and how far its number is from the last one.

    They stand in the order of their numbers, which are larger than ``after``.
    """
    out = bytearray()
    for number, (kind, data) in fields.items():
        out.append((number - after) << 4 | kind)
        out += data
        after = number
    return bytes(out)


def _list(kind: int, items: Sequence[bytes]) -> _Field:
    head = bytes([min(len(items), 15) << 4 | kind])
    return 9, head + (_varint(len(items)) if len(items) >= 15 else b"") + b"".join(items)


@lru_cache
def _text(text: str) -> _Field:
    return 8, _varint(len(text.encode())) + text.encode()


@lru_cache(4096)
def _i32(number: int) -> _Field:
    return 5, _zigzag(number)


@lru_cache(4096)
def _i64(number: int) -> _Field:
    return 6, _zigzag(number)


def _zigzag(number: int) -> bytes:
    """Return a number that is not negative, as the protocol has signed ones."""
    return _varint(number << 1)


def _varint(number: int) -> bytes:
    """Return a number in groups of seven bits, the lowest first."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


#: What stands last in the footer, and before it a seal that is still to be made.
_MAKER = _text("gnomon")
_SEAL_LENGTH = hashlib.sha256().digest_size * 2
_NO_SEAL = _text("0" * _SEAL_LENGTH)
