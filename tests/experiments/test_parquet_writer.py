"""Independent readers find in the bytes what was written."""

from __future__ import annotations

import hashlib
import io

import numpy as np
import polars as pl
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.experiments.parquet_writer import Column, parquet_bytes

DTYPES = {
    "int32": pl.Int32,
    "uint8": pl.UInt8,
    "int8": pl.Int8,
    "float64": pl.Float64,
    "bytes": pl.Binary,
}
LEAST = {"int32": -(1 << 31), "uint8": 0, "int8": -128}


@st.composite
def columns(draw: st.DrawFn, n_rows: int) -> Column:
    """A column of any kind, now and then with a dictionary of another width of codes."""
    kind = draw(st.sampled_from(sorted(DTYPES)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    present = rng.random(n_rows) < 0.6 if draw(st.booleans()) else None
    n_values = n_rows if present is None else int(present.sum())
    name, packed = f"{kind} é {draw(st.integers(0, 99))}", draw(st.booleans())
    if kind == "bytes":
        values = rng.integers(0, 256, (n_values, draw(st.integers(1, 40))), dtype=np.uint8)
        return Column(name, kind, values, present=present, compressed=packed)
    most = 250 if kind in ("uint8", "int8") else 70_000
    n_distinct = draw(st.sampled_from([n for n in (1, 2, 3, 16, 17, 250, 70_000) if n <= most]))
    values = rng.random(n_distinct) if kind == "float64" else LEAST[kind] + np.arange(n_distinct)
    return Column(name, kind, values, rng.integers(0, n_distinct, n_values), present, packed)


def expected(column: Column, n_rows: int) -> list[object]:
    """Return the rows of a column, None where there is no value."""
    if column.codes is None:
        values = iter([row.tobytes() for row in column.values])
    else:
        values = iter(column.values[column.codes].tolist())
    there = [True] * n_rows if column.present is None else column.present.tolist()
    return [next(values) if present else None for present in there]


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(0, 40))
def test_polars_and_arrow_read_what_was_written(data, n_rows):
    table = data.draw(
        st.lists(columns(n_rows), min_size=1, max_size=18, unique_by=lambda column: column.name)
    )
    written = parquet_bytes(table, n_rows)
    assert written == parquet_bytes(table, n_rows)
    by_polars = pl.read_parquet(io.BytesIO(written))
    by_arrow = pq.read_table(io.BytesIO(written))
    assert by_polars.columns == by_arrow.column_names == [column.name for column in table]
    for column in table:
        rows = expected(column, n_rows)
        assert by_polars.schema[column.name] == DTYPES[column.kind]
        assert by_polars[column.name].to_list() == rows
        assert by_arrow[column.name].to_pylist() == rows


def test_many_rows():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 70_000, 300_000)
    column = Column("a", "int32", np.arange(70_000), codes)
    assert pl.read_parquet(io.BytesIO(parquet_bytes([column], 300_000)))["a"].equals(
        pl.Series("a", codes, dtype=pl.Int32)
    )


def test_the_bytes_are_those_of_earlier_versions():
    """The hashes of shards are in journals and in committed results; gzip's bytes are its own."""
    n_rows, numbers = 1000, 7919 * np.arange(1000)
    some = numbers % 3 > 0
    n_there = int(some.sum())
    table = [
        Column(f"{bits} bits", "int32", np.arange(1 << bits), numbers % (1 << bits))
        for bits in (1, 2, 4, 8, 16)
    ]
    table += [
        Column("some", "uint8", np.arange(36), numbers[:n_there] % 36, some),
        Column("chance", "float64", np.arange(1, 30) / 7, numbers % 29),
        Column("bytes", "bytes", numbers[:n_there, None] % np.arange(1, 37), present=some),
    ]
    assert hashlib.sha256(parquet_bytes(table, n_rows)).hexdigest() == (
        "d5c5cee936dd8f0c732909808a5b2ff2b6d73ba7dcc33acd429a5c52598e083d"
    )
