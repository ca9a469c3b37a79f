"""What the rule language means, one behaviour a test; ⚠ of the specification among the names."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import strategies_rules as rules
from gohr import Board, Piece, ReferenceGame
from gohr.errors import RuleError
from gohr.rules import RuleSet, parse


def board(*placed: tuple[int, str, str]) -> Board:
    """Make a board of (cell, shape, colour); ids count from 0."""
    return Board(tuple(Piece(i, *each) for i, each in enumerate(placed)))


# . . . . . .
# . . . . . R      36 red star
# . . . . . .      13 blue circle, 8 red square
# B . . . . .      1 blue star
# . R . . . .
# B . . . . .
FOUR = board((1, "STAR", "BLUE"), (8, "SQUARE", "RED"), (13, "CIRCLE", "BLUE"), (36, "STAR", "RED"))


def game(text: str, on: Board = FOUR) -> ReferenceGame:
    return ReferenceGame(parse(text), on)


def movable(text: str, on: Board = FOUR) -> list[int]:
    """Return the ids of the pieces that can be moved at the beginning."""
    return sorted({piece_id for piece_id, _ in game(text, on).legal_moves()})


def buckets(text: str, piece_id: int = 0, on: Board = FOUR) -> list[int]:
    """Return the buckets that a piece may go to at the beginning."""
    return [bucket for mover, bucket in game(text, on).legal_moves() if mover == piece_id]


# -- fields ----------------------------------------------------------------------------------------


def test_names_of_shapes_and_colours_match_in_any_case() -> None:
    assert movable("(*,Star,*,*,0)") == [0, 3]
    assert movable('(*,*,["rEd",green],*,0)') == [1, 3]
    assert movable("(*,star,blue,*,0)") == [0]


def test_a_list_of_names_and_numbers_is_kept_as_it_is_spelt() -> None:
    assert movable("(*,*,[red,3],*,0) (1,*,*,1,*)") == [0]
    assert movable("(*,*,[RED,3],*,0)") == [1, 3]


def test_a_name_beside_an_expression_is_an_undefined_variable() -> None:
    assert movable("(*,*,[last.color,red],*,0) (1,*,*,1,*)") == [0]
    assert movable('(*,*,[last.color,"RED"],*,0)') == [1, 3]


def test_a_nested_list_of_names_is_an_expression() -> None:
    assert movable('(*,*,[["RED"]],*,0)') == [1, 3]
    assert movable("(*,*,[[red]],*,0) (1,*,*,1,*)") == [0]


def test_a_shape_or_colour_that_is_a_number_is_a_name() -> None:
    assert movable("(*,3,*,*,0)", board((1, "3", "RED"), (2, "4", "RED"))) == [0]


def test_conditions_on_other_properties_are_ignored_for_pieces_of_shape_and_colour() -> None:
    assert movable("(size:3, Bucket:1)") == [0, 1, 2, 3]


def test_buckets_count_modulo_four_and_backwards_from_zero() -> None:
    assert buckets("(*,*,*,*,[5,-1])") == [1, 3]
    assert buckets("(*,*,*,*,*)") == [0, 1, 2, 3]


def test_what_is_no_integer_is_no_bucket() -> None:
    assert buckets('(*,*,*,*,["2",this,this.color,3])') == [3]


def test_nearby_and_remotest() -> None:
    on = board((31, "A", "A"), (36, "A", "A"), (6, "A", "A"), (1, "A", "A"), (22, "A", "A"))
    assert game("(*,*,*,*,Nearby)", on).legal_moves() == [(0, 0), (1, 1), (2, 2), (3, 3), (4, 1)]
    assert game("(*,*,*,*,Remotest)", on).legal_moves() == [(0, 2), (1, 3), (2, 0), (3, 1), (4, 3)]


def test_nearby_and_remotest_in_lower_case_are_the_same() -> None:
    for paper, text in (
        ("(*,*,*,*,nearby)", "(*,*,*,*,Nearby)"),
        ("(bucket:[!p*[0,1], (remotest+p)%4])", "(bucket:[!p*[0,1], (Remotest+p)%4])"),
        ("(code:nearby==0)", "(code:Nearby==0)"),
    ):
        assert parse(paper) == parse(text)
    # Elsewhere they are names.
    assert parse("(place:nearby)") != parse("(place:Nearby)")
    assert game("(*,*,*,*,near)").finish == 2


def test_cells_that_are_not_on_the_board_never_match() -> None:
    assert movable("(*,*,*,[-1,0,99,8],0)") == [1]


def test_every_pos_clause_must_hold() -> None:
    assert movable("(pos:[1,8], pos:[8,13])") == [1]


def test_a_condition_holds_when_it_has_any_value_even_zero() -> None:
    assert movable("(code:0)") == [0, 1, 2, 3]
    assert game("(code:!0)").finish == 2
    assert movable("(code:this.pos>8)") == [2, 3]


# -- orders ----------------------------------------------------------------------------------------


def test_an_order_allows_the_pieces_of_the_first_rank_that_holds_any() -> None:
    assert movable("(*,*,*,L,0)") == [0, 2]
    assert movable("(*,*,*,T,0)") == [3]
    assert movable("(*,*,*,[T,8],0)") == [1, 3]


def test_an_order_looks_at_all_pieces_even_at_those_that_may_not_move() -> None:
    assert movable("(*,circle,*,B,0) (1,*,*,1,*)") == [0]


def test_postpos_looks_at_the_pieces_that_the_atom_would_move() -> None:
    assert movable("(shape:circle, postpos:B)") == [2]
    assert movable("(color:red, postpos:B)") == [1]
    assert movable("(bucket:Nearby, color:red, postpos:[T,8])") == [1, 3]


def test_an_incomplete_order_that_meets_no_piece_allows_all() -> None:
    assert movable("Order X=[2,3]\n(*,*,*,X,0)") == [0, 1, 2, 3]
    assert movable("Order X=[nobody,8]\n(*,*,*,X,0)") == [1]  # unknown names are ignored
    assert movable("Order X=[2,3]\n(color:red, postpos:X)") == [1, 3]


def test_a_custom_order_may_shadow_a_built_in_one_and_a_later_one_an_earlier() -> None:
    assert movable("Order T=[8]\n(*,*,*,T,0)") == [1]
    assert movable("Order X=[8]\nOrder X=[1]\n(*,*,*,X,0)") == [0]


def test_an_unknown_order_is_noticed_when_it_must_be_tested() -> None:
    with pytest.raises(RuleError, match="unknown order 'nowhere'; known: "):
        game("(*,*,*,nowhere,0)")
    with pytest.raises(RuleError, match="did you mean 'NearestObject'"):
        game("(*,*,*,NearestObjects,0)")


@pytest.mark.parametrize(
    "text",
    [
        "(*,*,green,Nowhere,0) (*,*,*,*,0)",  # the colour fails first
        "(pos:Nowhere, code:p) ()",  # the condition fails first
        "(0,*,*,Nowhere,0) (*,*,*,*,0)",  # the counter is exhausted
        "(*,*,*,[[Nowhere],1,8,13,36],0)",  # a number in the same list matches
        "(*,*,*,[99,L,Nowhere],0)",
        "(pos:99, pos:Nowhere) ()",
    ],
)
def test_an_unknown_order_that_is_never_tested_does_no_harm(text: str) -> None:
    if "99,L" in text:
        assert movable(text, board((1, "A", "A"), (7, "A", "A"))) == [0, 1]
    else:
        assert len(movable(text)) == 4


# -- counters --------------------------------------------------------------------------------------


def test_every_atom_that_accepts_a_move_pays_for_it() -> None:
    play = game("5 (2,*,*,*,0) (3,*,*,*,[0,1]) (*,*,*,*,1)")
    assert play.counters() == "5 / 2,3,*"
    assert play.attempt(0, 0) == 0
    assert play.counters() == "4 / 1,2,*"
    assert play.attempt(1, 1) == 0
    assert play.counters() == "3 / 1,1,*"


def test_rejections_and_picks_change_nothing() -> None:
    play = game("5 (2,star,*,*,0)")
    assert [play.attempt(1, 0), play.attempt(0, 1), play.pick(0), play.pick(1)] == [7, 4, 0, 7]
    assert (play.counters(), play.n_attempts, len(play.pieces)) == ("5 / 2", 4, 4)
    assert play.last_accepted is None


def test_an_atom_with_count_zero_is_ignored() -> None:
    assert movable("(0,star,*,*,0) (1,square,*,*,0)") == [1]


def test_a_line_is_exhausted_when_all_its_atoms_are() -> None:
    play = game("(1,*,*,*,0) (1,*,*,*,1)\n(*,*,*,*,2)")
    play.attempt(0, 0)
    assert (play.line, play.counters()) == (0, "* / 0,1")
    play.attempt(1, 1)
    assert play.line == 1


def test_a_line_with_an_unmetered_atom_is_left_only_when_nothing_can_move() -> None:
    play = game("(1,*,*,*,0) (*,star,*,*,1)\n(*,*,*,*,2)")
    play.attempt(0, 0)
    assert (play.line, play.legal_moves()) == (0, [(3, 1)])
    play.attempt(3, 1)
    assert play.line == 1


def test_a_single_exhausted_line_starts_again() -> None:
    play = game("(1,*,*,*,0)")
    assert [play.attempt(i, 0) for i in range(4)] == [0, 0, 0, 0]
    assert play.finish == 1


def test_counters_are_fresh_whenever_a_line_becomes_active() -> None:
    play = game("1 (3,*,*,*,0)\n1 (3,*,*,*,1)")
    for piece_id, bucket in [(0, 0), (1, 1), (2, 0)]:
        assert play.counters() == "1 / 3"
        assert play.attempt(piece_id, bucket) == 0


# -- lines and ends --------------------------------------------------------------------------------


def test_lines_switch_eagerly_after_a_move() -> None:
    play = game("(*,square,*,*,0)\n(*,*,*,*,1)")
    assert play.attempt(1, 0) == 0
    assert (play.line, play.attempt(0, 1)) == (1, 0)


def test_lines_without_a_move_are_passed_over() -> None:
    play = game("(*,triangle,*,*,0)\n(0,*,*,*,0)\n0 (*,*,*,*,0)\n(*,*,*,*,1)")
    assert (play.line, play.finish) == (3, 0)


def test_a_stalemate_can_exist_before_the_first_move() -> None:
    play = game("(*,triangle,*,*,0)\n(0,*,*,*,0)")
    assert (play.finish, play.line, play.legal_moves()) == (2, 0, [])
    assert play.attempt(0, 0) == -4


def test_a_stalemate_is_announced_with_the_move_that_led_to_it() -> None:
    play = game("(*,square,*,*,0)\n(*,square,*,*,1)")
    assert (play.attempt(1, 0), play.finish) == (0, 2)
    # The line is the one at which the search for a line with a move began.
    assert play.line == 1


def test_clearing_the_board_switches_no_line() -> None:
    play = game("(1,*,*,*,0)\n(1,*,*,*,1)", board((5, "A", "A")))
    assert (play.attempt(0, 0), play.finish, play.line, play.counters()) == (0, 1, 0, "* / 0")


def test_zero_counters_everywhere_are_a_stalemate_that_can_be_looked_at() -> None:
    play = game("(0,*,*,*,0)")
    assert (play.finish, play.counters(), play.legal_moves()) == (2, "* / 0", [])


def test_a_board_without_pieces_is_cleared_from_the_start() -> None:
    assert game("()", Board(())).finish == 1


# -- codes -----------------------------------------------------------------------------------------


def test_codes_that_do_not_count_as_attempts() -> None:
    on = board((5, "A", "A"), (5, "B", "B"), (7, "C", "C"))
    play = game("()", on)
    assert [play.attempt_at(6, 0), play.attempt_at(5, 0), play.attempt(9, 0)] == [3, -11, -10]
    assert [play.pick_at(6), play.pick_at(5), play.pick(9)] == [3, -11, -10]
    assert play.n_attempts == 0
    assert [play.attempt(0, 0), play.attempt_at(5, 0), play.attempt_at(7, 0)] == [0, 0, 0]
    assert [play.attempt(0, 0), play.attempt_at(5, 0), play.pick(0), play.pick_at(9)] == [-4] * 4
    assert play.n_attempts == 3


@pytest.mark.parametrize("bucket", [-1, 4])
def test_a_bucket_that_does_not_exist_is_a_mistake_of_the_program(bucket: int) -> None:
    with pytest.raises(ValueError, match="expected a bucket from 0 to 3"):
        game("()").attempt(0, bucket)


# -- crowded boards --------------------------------------------------------------------------------


def test_pieces_of_one_cell_are_tested_each_on_its_own() -> None:
    on = board((5, "STAR", "RED"), (5, "CIRCLE", "RED"), (36, "STAR", "BLUE"))
    play = game("(*,star,*,B,0)", on)
    assert play.legal_moves() == [(0, 0)]
    play.attempt(0, 0)
    assert play.finish == 2  # the circle still holds the cell


# -- memory ----------------------------------------------------------------------------------------


def allowed(play: ReferenceGame) -> dict[int, list[int]]:
    """Return the buckets of every piece that can move."""
    found: dict[int, list[int]] = {}
    for piece_id, bucket in play.legal_moves():
        found.setdefault(piece_id, []).append(bucket)
    return found


def after(text: str, *moves: tuple[int, int], on: Board = FOUR) -> dict[int, list[int]]:
    """Return what is allowed on the second line, after moves on the first."""
    play = game(f"{len(moves)} ()\n{text}", on)
    for move in moves:
        assert play.attempt(*move) == 0
    return allowed(play)


def test_p_is_the_bucket_of_the_last_move() -> None:
    assert after("(*,*,*,*,p+1)", (0, 3), (1, 1)) == {2: [2], 3: [2]}
    assert after("(bucket:p.bucket)", (0, 3), (1, 1)) == {2: [1, 3], 3: [1, 3]}


def test_pc_and_ps_are_those_of_the_same_colour_and_shape() -> None:
    assert after("(*,*,*,*,pc)", (0, 3), (1, 1)) == {2: [3], 3: [1]}
    assert after("(*,*,*,*,ps)", (0, 3), (1, 1)) == {3: [3]}
    assert after("(*,*,*,*,[p.color, p.shape])", (0, 3), (1, 1)) == {2: [3], 3: [1, 3]}


def test_last_is_a_piece_with_fields() -> None:
    assert after("(*,*,*,*,last.bucket)", (0, 3)) == {1: [3], 2: [3], 3: [3]}
    assert after("(*,*,last.color,*,0)", (0, 3)) == {2: [0]}
    assert after("(code:this.shape==last.shape, bucket:last.pos)", (0, 3)) == {3: [1]}


def test_q_is_the_last_piece_that_shares_a_field() -> None:
    assert after("(bucket:q.color.bucket+1)", (0, 3), (1, 1)) == {2: [0], 3: [2]}
    assert after("(code:q.bucket.color==this.color)", (0, 3), (1, 1)) == {2: [3], 3: [1]}


def test_variables_are_undefined_before_the_first_move() -> None:
    for name in ["p", "pc", "ps", "p.pos", "last", "last.pos", "q.color", "q", "this.size", "x"]:
        assert movable(f"(code:{name}) (color:red, code:!{name})") == [1, 3]


def test_memory_lives_on_when_the_line_changes() -> None:
    play = game("(1,*,*,*,0)\n(1,*,*,*,1)\n(*,*,*,*,pc)")
    play.attempt(1, 0)
    play.attempt(2, 1)
    assert allowed(play) == {0: [1], 3: [0]}
    assert [move.bucket for move in play.memory] == [0, 1]


# -- pieces with properties ------------------------------------------------------------------------


def things(*properties: dict[str, str]) -> Board:
    return Board(tuple(Piece(i, i + 1, properties=each) for i, each in enumerate(properties)))


CAT = {"kind": "cat", "size": "2", "color": "red"}
DOG = {"kind": "dog", "size": "010", "color": "Red"}
BOTH = things(CAT, DOG, {"color": "blue"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(kind:cat)", [0]),
        ("(kind:[cat,dog])", [0, 1]),
        ('(kind:"*")', [0, 1]),  # any value, but there must be one
        ("(kind:Cat) ()", [0, 1, 2]),
        ("(color:red)", [0]),
        ("(*,*,red,*,*)", [0]),
        ("(shape:star) (color:blue)", [2]),  # no property of this name: rejected
        ("(size:2)", [0]),
        ("(size:[1..2])", [0]),
        ("(size:[2..10])", [0, 1]),
        ("(kind:[0..9]) (color:blue)", [2]),
        ("(size:10) (color:blue)", [2]),  # not as it is spelt
        ("(size:this.size)", [0]),
        ("(size:1+1)", [0]),
        ("(size:[cat,2])", [0]),
        ('(kind:[this.kind,"x"])', [0, 1]),
        ("(code:this.size==10)", [1]),
        ("(code:this.pos==2)", [1]),
    ],
)
def test_properties_are_matched_as_strings(text: str, expected: list[int]) -> None:
    assert movable(text, BOTH) == expected


def test_memory_of_properties() -> None:
    on = things(CAT, DOG, {**CAT, "size": "3"}, {"color": "red"})
    assert after("(bucket:p.kind)", (0, 3), (1, 1), on=on) == {2: [3]}
    assert after("(bucket:pc)", (0, 3), (1, 1), on=on) == {2: [3], 3: [3]}
    assert after("(bucket:q.kind.size)", (0, 3), (1, 1), on=on) == {2: [2]}


def test_a_property_called_pos_or_bucket_is_hidden_by_the_real_one() -> None:
    on = things({"pos": "9", "bucket": "7"})
    assert buckets("(bucket:this.pos, code:this.bucket==1)", on=on) == [1]


# -- every rule, every board -----------------------------------------------------------------------


def play_through(play: ReferenceGame, data: st.DataObject) -> None:
    """Make attempts of all kinds and check what holds for every rule."""
    for _ in range(12):
        legal, left = play.legal_moves(), play.pieces
        assert (play.finish == 0) == bool(legal)
        assert (play.finish == 1) == (not left)
        if not legal:
            return
        piece_id = data.draw(st.sampled_from([piece.id for piece in left]))
        move = data.draw(st.sampled_from([*legal, (piece_id, 0), (piece_id, 3)]))
        code = play.attempt(*move)
        if move in legal:
            assert code == 0
            assert len(play.pieces) == len(left) - 1
            assert play.last_accepted is not None
            assert play.last_accepted.bucket == move[1]
        else:
            assert code == (4 if move[0] in {mover for mover, _ in legal} else 7)
            assert (play.legal_moves(), play.pieces) == (legal, left)


@given(rules.rule_sets(), rules.boards(max_pieces=6) | rules.crowded_boards(6), st.data())
@settings(max_examples=300)
def test_any_rule_on_any_board(rule_set: RuleSet, on: Board, data: st.DataObject) -> None:
    play_through(ReferenceGame(rule_set, on), data)


@given(rules.rule_sets(properties=True, may_fail=True), rules.property_boards(6), st.data())
@settings(max_examples=200)
def test_any_rule_with_properties(rule_set: RuleSet, on: Board, data: st.DataObject) -> None:
    try:
        play_through(ReferenceGame(rule_set, on), data)
    except RuleError:
        assume(False)


@given(rules.rule_sets(), rules.boards(max_pieces=6), st.integers(0, 3))
@settings(max_examples=100)
def test_adding_an_atom_that_accepts_everything_leaves_no_stalemate(
    rule_set: RuleSet, on: Board, bucket: int
) -> None:
    extended = parse(f"{rule_set}(*,*,*,*,{bucket})")
    assert ReferenceGame(extended, on).finish == 0
