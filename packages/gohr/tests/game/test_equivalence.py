"""Equivalence of rules, against plays of the reference interpreter."""

import dataclasses
import itertools

import numpy as np
import pytest

from gohr import Board, BoardSpec, Piece, ReferenceGame, draw_boards, equivalent
from gohr.rules import available_rules, load_rule, parse

SMALL = BoardSpec((1, 2), 0, 0, ("STAR",), ("RED", "BLUE"))
ANY = BoardSpec((1, 9), 0, 0)
PAIRS = [
    ("(*,*,*,*,0)", "(*,*,*,*,4)", True),
    ("(*,*,red,*,0) (*,*,blue,*,1)", "(*,*,blue,*,[1]) (*,star,red,*,0)", True),
    ("(*,*,*,*,[0,1]) (*,*,*,*,p)", "(*,*,*,*,[1,0])", True),
    ("(*,*,*,L1,0)", "(*,*,*,L2,0)", False),
    ("(*,*,*,*,[0,p+1])", "(*,*,*,*,[0,pc+1])", False),
    ("(1,*,*,*,0)\n(*,*,*,*,*)", "(2,*,*,*,0)\n(*,*,*,*,*)", False),
    ("(1,*,red,*,0) (*,*,*,*,1)", "(1,*,red,*,0) (*,*,*,*,1) (2,*,red,*,0)", False),
    ("(*,*,red,*,0)", "(*,*,red,*,0) (0,*,blue,*,1)", True),
    ("(*,*,*,[1,2,3],*)", "(*,*,*,[1,2],*)", False),
]


def accepted(game):
    where = {piece.id: piece.pos for piece in game.pieces}
    return {(where[piece], bucket) for piece, bucket in game.legal_moves()}


def differ(a, b, board):
    """Tell whether any play on a board tells two rules apart."""
    plays = [(ReferenceGame(a, board), ReferenceGame(b, board))]
    while plays:
        one, other = plays.pop()
        moves = accepted(one)
        if moves != accepted(other):
            return True
        for move in moves:
            twins = one.copy(), other.copy()
            for twin in twins:
                twin.attempt_at(*move)
            plays.append(twins)
    return False


def is_shown(found, a, b):
    """Tell whether the play that was found tells the rules apart."""
    games = [ReferenceGame(rule, found.board) for rule in (a, b)]
    for game, move in itertools.product(games, found.moves):
        assert game.attempt_at(*move) == 0
    by = ["a", "b"][[found.attempt in accepted(game) for game in games].index(True)]
    return (found.attempt in accepted(games[0])) != (found.attempt in accepted(games[1])) and (
        by == found.accepted_by
    )


def boards_of(spec, n_of_two=None):
    """Return all boards of one piece, and all or some of two."""
    kinds = list(itertools.product(spec.shape_palette, spec.color_palette))
    single = [Board((Piece(0, c, *k),)) for c in range(1, 37) for k in kinds]
    double = [
        Board((Piece(0, c, *k), Piece(1, d, *m)))
        for c, d in itertools.combinations(range(1, 37), 2)
        for k, m in itertools.product(kinds, kinds)
    ]
    some = slice(None) if n_of_two is None else slice(None, None, len(double) // n_of_two)
    return single + double[some]


@pytest.mark.parametrize(("a", "b", "same"), PAIRS)
def test_small_boards_against_every_play(a, b, same):
    found = equivalent(a, b, SMALL)
    assert bool(found) is same
    assert found.exact
    rules = parse(a), parse(b)
    if same:
        assert not any(differ(*rules, board) for board in boards_of(SMALL, 100))
    else:
        assert is_shown(found, *rules)
        assert found.is_smallest
        if len(found.board.pieces) == 2:
            assert not any(differ(*rules, Board((p,))) for p in found.board.pieces)


@pytest.mark.full
@pytest.mark.parametrize(("a", "b", "same"), PAIRS)
def test_small_boards_against_brute_force(a, b, same):
    rules = parse(a), parse(b)
    assert any(differ(*rules, board) for board in boards_of(SMALL)) is not same


def test_rules_of_the_catalogue_are_equivalent_to_themselves_alone():
    names = available_rules()[:25]
    for name in names:
        found = equivalent(load_rule(name), load_rule(name))
        assert found, name
        assert found.exact, name
    for a, b in itertools.pairwise(names):
        found = equivalent(load_rule(a), load_rule(b), ANY)
        assert bool(found) or is_shown(found, load_rule(a), load_rule(b)), (a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("(*,*,*,*,[0,1]) (*,*,*,*,p)", "(*,*,*,*,[1,0])"),
        ("(*,*,*,*,[0,2]) (*,*,*,*,[pc,ps+2])", "(*,*,*,*,[0,2])"),
    ],
)
def test_last_buckets_that_no_play_reaches_do_not_count(a, b):
    found = equivalent(a, b)  # there are too many boards of nine pieces to search all
    assert found.equivalent
    assert found.exact
    assert found.n_boards == 0


def test_last_buckets_that_only_a_later_move_reaches_count():
    # After buckets 0 and 1 a third piece may go to 2.
    found = equivalent("(*,*,*,*,[0,p+1])", "(*,*,*,*,0) (*,*,*,*,[p==0])", n_boards=100)
    assert not found


def test_a_rule_of_many_parts_is_searched():
    text = f"(bucket:[0,1], code:[{','.join(['!p.bucket'] * 128)}]) (bucket:[2,3])"
    assert equivalent(text, text).exact
    other = text.replace("[2,3]", "2")
    found = equivalent(text, other, SMALL, n_boards=500)
    assert is_shown(found, parse(text), parse(other))
    assert str(found).startswith("different; smallest board: red star in cell 1; only a accepts")


def test_the_bound_is_told():
    a = "(*,*,*,*,*)\n(*,*,*,*,0)"  # the second line is never reached
    found = equivalent(a, "(*,*,*,*,*)", n_boards=300)
    assert found
    assert not found.exact
    assert str(found) == (
        "no difference found: all boards of up to 8 pieces and 300 boards in all were searched"
    )
    assert equivalent(a, "(*,*,*,*,*)", SMALL).exact  # every play was searched
    with pytest.raises(ValueError, match="n_boards: expected at least 0, found -1"):
        equivalent(a, a, n_boards=-1)


def test_the_same_seed_gives_the_same_answer():
    a, b = "(*,*,*,*,[0,p+1])", "(*,*,*,*,[0,ps+1])"
    assert equivalent(a, b, rng=3) == equivalent(a, b, rng=np.random.default_rng(3))


POOL = parse(
    "(*,star,red,[1,2,3,8,9,36],0) (2,[star,circle],[red,blue],L1,p+1) (*,*,*,*,[0,1]) "
    "(1,square,black,B,pc) (*,*,*,[R,T],(ps+1)%4) (*,[triangle,star],yellow,5,Nearby) (3,*,*,*,*)"
)


def mutated(rule, rng):
    """Change something in a rule, which may change nothing in what it says."""
    lines = list(rule.lines)
    k = int(rng.integers(len(lines)))
    atoms = list(lines[k].atoms)
    i = int(rng.integers(len(atoms)))
    other = POOL.lines[0].atoms[int(rng.integers(len(POOL.lines[0].atoms)))]
    match int(rng.integers(7)):
        case 0:
            atoms.append(atoms[i])
        case 1:
            atoms.reverse()
        case 2:
            atoms.append(other)
        case 3 if len(atoms) > 1:
            del atoms[i]
        case 4:
            lines.append(lines[k])
        case _:
            name = ("count", "shape", "color", "positions", "buckets")[int(rng.integers(5))]
            atoms[i] = dataclasses.replace(atoms[i], **{name: getattr(other, name)})
    lines[k] = dataclasses.replace(lines[k], atoms=tuple(atoms))
    return dataclasses.replace(rule, lines=tuple(lines))


def check_mutants(n, seed):
    rng = np.random.default_rng(seed)
    names = [name for name in available_rules() if "ungewohnlich" not in name]
    told = {True: 0, False: 0}
    for k in range(n):
        rule = load_rule(names[int(rng.integers(len(names)))])
        other = mutated(rule, rng)
        spec = (ANY, BoardSpec())[k % 2]
        found = equivalent(rule, other, spec, n_boards=2000, rng=k)
        told[bool(found)] += 1
        if not found:
            assert is_shown(found, rule, other), (rule, other)
            continue
        for codes in draw_boards(6, spec, rng=rng):
            board = Board.from_codes(codes.tolist(), spec)
            games = [ReferenceGame(x, board) for x in (rule, other)]
            while moves := sorted(accepted(games[0])):
                assert set(moves) == accepted(games[1]), (rule, other)
                move = moves[int(rng.integers(len(moves)))]
                for game in games:
                    game.attempt_at(*move)
    return told


def test_mutants_against_the_reference_interpreter():
    told = check_mutants(24, 1)
    assert min(told.values()) > 3


@pytest.mark.full
def test_many_mutants_against_the_reference_interpreter():
    told = check_mutants(300, 2)
    assert min(told.values()) > 30
