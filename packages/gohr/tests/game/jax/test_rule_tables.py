"""Rules as padded tables: folded, dropped, united, packed, they allow what they allowed before."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import assume, given, settings

from gohr import compile_rule
from gohr.errors import RuleError
from gohr.jax import make
from gohr.jax import tables as padded
from gohr.rules import RuleSet, available_rules, load_rule, parse
from strategies_rules import paper_rule_sets


def to_tables(rules: list[RuleSet]) -> Any:
    """Return the tables of an environment that plays some rules."""
    return SimpleNamespace(**jax.tree.map(np.asarray, make(rules)[1].rules))


def tables_of(text: str) -> Any:
    return to_tables([parse(text)])


def parts(tables: Any) -> dict[str, int]:
    """Return the lengths of the parts that a rule may need, as far as they are not 0."""
    lengths = {
        "entries": tables.entries.shape[1],
        "counts": tables.atom_count.shape[1],
        "orders": tables.ranks.shape[2],
        "positions": tables.position_cells.shape[2],
        "postpos": tables.postpos_cells.shape[2],
    }
    return {name: length for name, length in lengths.items() if length}


def n_atoms(tables: Any) -> int:
    return int((tables.lines[0].max(axis=0) >> np.arange(0, 32, 4)[:, None] & 1).sum())


def test_all_rules_of_the_catalogue_have_tables_with_room_for_four_atoms_in_one_word():
    rules = [load_rule(name) for name in available_rules()]
    tables = to_tables(rules)
    assert len(rules) == 90
    assert tables.cell.shape[2] == 1
    assert sum(array.nbytes for array in vars(tables).values()) / len(rules) < 900
    alone = [to_tables([rule]) for rule in rules]
    assert max(map(n_atoms, alone)) == 4
    assert sum(not parts(each).keys() & {"orders", "entries"} for each in alone) == 60
    # In a bank a rule is what it is alone, padded.
    for row, each in enumerate(alone):
        assert (tables.cell[row] == each.cell[0]).all()
        n_lines = len(each.lines[0])
        assert (tables.lines[row, :n_lines] == each.lines[0]).all()
        assert not tables.lines[row, n_lines:].any()


def test_what_the_memory_does_not_matter_to_is_folded_into_pieces_and_cells():
    tables = tables_of("(*,star,*,*,0) (*,triangle,*,*,1) (*,square,*,*,2) (*,circle,*,*,3)")
    assert not parts(tables)
    # Square, star, circle and triangle of each color, and nothing at the front.
    assert tables.piece[0, :, 0].tolist() == [0] + [4] * 4 + [1] * 4 + [8] * 4 + [2] * 4
    tables = tables_of("(*,*,*,*,Nearby)")
    assert tables.cell[0, [0, 5, 35, 30], 0].tolist() == [8, 4, 2, 1]
    assert not parts(tables)


@pytest.mark.parametrize(
    ("text", "atoms"),
    [
        ("(*,star,*,*,0) (*,circle,*,*,0)", 1),  # united
        ("(*,star,*,*,p+1) (*,circle,*,*,ps)", 2),  # differ in two tables
        ("(*,*,*,*,p+1) (*,*,*,*,ps)", 2),  # look at different pieces
        ("(1,star,*,*,0) (*,circle,*,*,0)", 2),  # a count is one atom's own
        ("(0,star,*,*,0) (*,circle,*,*,0)", 1),  # never alive
        ("(*,pentagon,*,*,0) (*,circle,*,*,0)", 1),  # no such piece
        ("(*,star,*,T,0) (*,circle,*,T,0)", 1),  # the same order
        ("(*,star,*,T,0) (*,circle,*,B,0)", 2),  # another order
        ("(postpos:T, shape:star, bucket:0) (postpos:T, shape:circle, bucket:0)", 2),
        ("0 (*,star,*,*,0)\n(*,circle,*,*,0)", 1),  # a line that is never entered
    ],
)
def test_atoms_are_dropped_and_united_where_no_reply_changes(text: str, atoms: int):
    assert n_atoms(tables_of(text)) == atoms


def test_lines_and_counts_stand_beside_each_other():
    text = "2 (3,star,*,*,0) (*,*,*,*,[1,2])\n(*,*,*,*,p+1)"
    tables = tables_of(text)
    # No bucket, or one of four, has been used.
    assert parts(tables) == {"entries": 5, "counts": 8}
    assert (tables.entries[0, :, 0] >> 8 & 15).tolist() == [0, 2, 4, 8, 1]
    assert tables.lines[0, :, 0].tolist() == [0xFF, 0xF00]
    assert tables.line_count[0].tolist() == [2, -1]
    assert tables.atom_count[0].tolist() == [3, -1, -1] + [-1] * 5


def test_orders_and_the_fields_that_name_them():
    tables = tables_of("Order Mine=[3,[1,2]]\n(*,*,*,[Mine,36],0) (*,*,*,*,1)")
    assert parts(tables) == {"orders": 1, "positions": 1}
    assert tables.ranks[0, :4, 0].tolist() == [1, 1, 0, 255]
    assert tables.position_orders[0, 0, 0].tolist() == [0xF]
    assert tables.position_cells[0, [0, 35], 0, 0].tolist() == [0xFFFFFFF0, 0xFFFFFFFF]
    tables = tables_of("(postpos:T, bucket:0)")
    assert parts(tables) == {"orders": 1, "postpos": 1}
    assert tables.postpos_cells[0, :, 0, 0].tolist() == [0xFFFFFFF0] * 36


@settings(max_examples=60)
@given(paper_rule_sets())
def test_a_line_allows_together_what_its_atoms_allowed_before(rule_set: RuleSet):
    rule = compile_rule(rule_set)
    assume(not any(rule.conditions))  # a name that nobody knows is one
    tables = to_tables([rule_set])
    # Of p, pc and ps: 0 for none, else 1 + bucket.
    last = np.random.default_rng(0).integers(0, 5, (20, 3))
    memory = last @ [100, 20, 4] + _quadrants()[:, None]
    # Fields of the piece are its shape, color and cell; of a last one, whether it is there, and its
    # bucket.
    strides = tables.strides[0]
    at = (strides[1:4, 0] * (last > 0) + strides[1:4, 4] * np.maximum(last - 1, 0)).sum(axis=1)
    at = at + strides[0, 3] * np.arange(36)[:, None]
    at = at + (np.array(np.divmod(np.arange(16), 4)).T @ strides[0, 1:3])[:, None, None]
    entries = tables.entries[0, at] if parts(tables).get("entries") else np.uint32(0xFFFFFFFF)
    for line, (start, stop, count) in enumerate(rule.lines.tolist()):
        before = np.zeros((16, 36, 20), np.uint8)
        for a in range(start, stop):
            if count and rule.counts[a]:
                piece, cell, bucket = np.split(rule.atoms[a], [16, 52])
                before |= piece[:, None, None] & cell[:, None] & bucket[memory]
        words = tables.cell[0][:, None] & entries & tables.lines[0, line]
        words = tables.piece[0, 1:][:, None, None] & words
        after = np.zeros_like(before)
        for shift in range(0, 32, 4):
            after |= np.bitwise_or.reduce(words >> shift & 15, axis=-1).astype(np.uint8)
        assert (after == before).all()


def _quadrants() -> np.ndarray:
    """The bucket nearest to each cell: 0 top left, clockwise."""
    y, x = np.divmod(np.arange(36), 6)
    return np.where(y >= 3, np.where(x < 3, 0, 1), np.where(x < 3, 3, 2))


def test_messages(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(ValueError, match="rules: expected at least one, found none"):
        to_tables([])
    monkeypatch.setattr(padded, "MOST_ENTRIES", 30)
    with pytest.raises(RuleError) as error:
        to_tables([load_rule("clockwise"), load_rule("where-the-last-piece-lay")])
    assert str(error.value) == (
        "rule 1: the conditions depend on too many things at once: expected at most "
        "30 entries, found 72; the engine plays it"
    )
