import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import strategies_rules as rules
from gohr import Board, ReferenceGame
from gohr.errors import RuleSyntaxError
from gohr.rules import RuleSet, available_rules, lint, load_rule, parse

ANY = "(*,*,*,*,*)"


@pytest.mark.parametrize(
    ("text", "column", "severity", "message", "remedy"),
    [
        # syntax
        ("(*,*,*,*,p=1)", 11, "error", "expected ',' or ')', found '='", "to compare, write '=='"),
        ("(*,*", 5, "error", "expected ',' or ')', found the end of the line", "close the bracket"),
        ("(*,*,red blue,*,1)", 10, "error", "found 'blue'", "put a comma between two values"),
        ("-1 (*,*,*,*,1)", 1, "error", "found '-'", "a line without a limit has no count"),
        ("(*,*,*,*, )", 11, "error", "a field after the comma", "write * for a field"),
        # orders
        ("(*,*,*,Furthest,1)", 8, "error", "order 'Furthest' does not exist", "write 'Farthest'"),
        ('(*,*,*,[1,["t"]],1)', 12, "error", "order 't' does not exist", "write 'T'"),
        ("(postpos:Nowhere)", 10, "error", "order 'Nowhere' does not exist", "known: B, Farthest"),
        ("Order X=[1]\n()", 1, "warning", "order 'X' is not used", "remove it"),
        ("Order X=[1,y]\n(pos:X)", 1, "warning", "in the order 'X' is not a cell", "1 to 36"),
        ("Order X=[1]\nOrder X=[2]\n(pos:X)", 1, "warning", "defined again below", "another name"),
        ("Order T=[1]\n(pos:T)", 1, "note", "hides the built-in order", "rename it"),
        ("Order X=[1]\n(pos:X)", 1, "note", "does not list 35 of the 36 cells", "list them"),
        # variables
        ("(*,*,*,*,NEARBY)", 10, "warning", "'NEARBY' does not exist", "write 'Nearby'"),
        ("(*,*,*,*,Nearest)", 10, "warning", "'Nearest' does not exist", "write 'Nearby'"),
        ("(*,*,*,*,[P,1])", 11, "warning", "'P' does not exist", "write 'p'"),
        ("(*,*,*,*,[remote,1])", 11, "warning", "'remote' does not exist", "write 'Remotest'"),
        ("(*,*,*,*,[wild,1])", 11, "warning", "'wild' does not exist", "variables are p, pc"),
        ("(code:q==1)", 7, "warning", "'q' does not exist", "as in q.color"),
        ("(code:!pc.pos)", 8, "warning", "'pc.pos' does not exist", "write last.pos"),
        ("(code:Last.color==1)", 7, "warning", "'Last.color' does not exist", "'last.color'"),
        ("(code:this.colour!=1)", 7, "warning", "no piece has the property", "write 'color'"),
        ("(code:this.color==red)", 19, "warning", "'red' does not exist", '"RED"'),
        ('(code:this.color=="red")', 19, "warning", "names are in capitals here", '"RED"'),
        ("(*,*,[last.color,red],*,1)", 18, "warning", "'red' does not exist", '"RED"'),
        ('(*,["star",last.shape],*,*,1)', 5, "warning", "names are in capitals here", '"STAR"'),
        ("(bucket:this.color+1)", 9, "error", "arithmetic on it stops the game", "compare"),
        # clauses and conditions
        ("(Bucket:1)", 2, "warning", "'Bucket' is not a clause", "write 'bucket:'"),
        ("(colour:red)", 2, "warning", "'colour' is not a clause", "write 'color:'"),
        ("(siez:3)", 2, "warning", "no piece has the property 'siez'", "remove it, or give"),
        ("(color:red, seq:[1,2])", 13, "warning", "has the property 'seq'", "remove it"),
        ("(size:[3..1])", 7, "warning", "the range [3..1] is empty", "write [1..3]"),
        ("(*,sqare,*,*,1)", 4, "warning", "the shape 'sqare', so it never", "write 'square'"),
        ("(*,*,pink,*,1)", 6, "note", "the color 'pink', so it never", "known: red, black"),
        ("(*,stern,*,*,1)", 1, "warning", "the rule accepts no piece of the usual", "correct the"),
        (
            "(*,*,grn,*,1)",
            1,
            "warning",
            "the rule accepts no piece of the usual",
            "correct the names",
        ),
        ("(*,red,*,*,1)", 4, "warning", "'red' is a color", "fields are (count, shapes"),
        ("(*,*,[red,3],*,1)", 7, "warning", "in a list with numbers", "write it in capitals, RED"),
        ("(*,*,a/b,*,1)", 6, "warning", "'a/b' is arithmetic", 'in quotes: "a/b"'),
        ("(*,*,*,[1,37],1)", 11, "warning", "there is no cell 37", "36 at the top right"),
        ("(*,*,*,*,4)", 10, "note", "and 4 means 0", "write 0"),
        ('(*,*,*,*,[1,"2"])', 13, "warning", '"2" is not a bucket', "without quotes"),
        # tags
        ("# tags: memry, own\n()", 9, "note", "the tag 'memry' is unknown", "'memory'"),
        ("# tags: own, one-buckt\n()", 14, "note", "the tag 'one-buckt' is", "'one-bucket'"),
        # counts and arithmetic
        ("(-1,*,*,*,0)", 2, "note", "the count -1 is negative, which means no limit", "write *"),
        ("(count: -3, bucket:0)", 9, "note", "the count -3 is negative", "leave the count out"),
        ("(*,*,*,*,[0,p%0])", 13, "warning", "'p%0' divides by zero", "another number"),
        ("(*,star,*,*,0) (*,star,*,*,0)", 16, "warning", "repeats an earlier one", "remove it"),
        # atoms and lines that do nothing
        ("(0,*,*,*,1)", 1, "warning", "never accepts anything, since its count is 0", "remove it"),
        ("(*,*,*,*,1/0)", 1, "warning", "since its buckets never have a value", "remove it"),
        *(
            (
                f"(*,*,*,*,{buckets})",
                1,
                "warning",
                "since its buckets never have a value",
                "remove it",
            )
            for buckets in ("last", "[this]", "q.color", "q.pos", "5>6")
        ),
        ("(code:!this)", 1, "warning", "since its code never has a value", "remove it"),
        ("(pos:[1,2],pos:3)", 1, "warning", "no cell is in all of its positions", "remove it"),
        (f"0 {ANY}", 1, "warning", "the line never accepts anything", "change the count"),
        (f"(1,*,*,*,0)\n{ANY}\n()", 1, "warning", "rule line 3 is never reached", "line 2 a count"),
    ],
)
def test_findings(text: str, column: int, severity: str, message: str, remedy: str) -> None:
    matching = [f for f in lint(text) if message in f.message]
    assert len(matching) == 1, lint(text)
    found = matching[0]
    assert (found.column, found.severity) == (column, severity)
    assert remedy in found.remedy


@pytest.mark.parametrize(
    "text",
    [
        "# tags: memory, my-own\n()\n# tags: memry",
        "(*,*,*,*,[last,5<6])",
        '(*,[star,"circle"],*,*,1)',
        "(1,Star,[red,BLUE],[T,5],[p+1,Nearby])",
        "(code:q.color.pos==this.pos-1, bucket:!p*[0,1,2,3], shape:last.shape)",
        '(code:this.color=="RED", bucket:p.shape+1)',
        "(1,*,*,*,*)\n(1,*,*,*,*)",
        "(pos:L, pos:T)\n()",
    ],
)
def test_nothing_is_found_in_a_rule_with_which_all_is_well(text: str) -> None:
    assert lint(text) == ()


def test_nothing_is_found_in_the_library() -> None:
    for name in available_rules():
        assert [f for f in lint(load_rule(name)) if f.severity != "note"] == [], name


def test_palettes_of_ones_own() -> None:
    rule_set = parse("(*,heart,*,*,1)")
    assert lint(rule_set, shapes=("HEART",)) == ()
    assert [found.severity for found in lint(rule_set)] == ["warning", "note"]


def test_properties_are_named_since_no_board_that_is_drawn_has_them() -> None:
    found = lint("(kind:[cat,3], size:[1..3], code:p.kind)")
    assert [(finding.column, finding.severity) for finding in found] == [
        (2, "warning"), (16, "warning"), (34, "warning"),
    ]  # fmt: skip


def test_a_finding_in_words() -> None:
    (finding,) = lint("\n(*,*,*,*,4)")
    assert str(finding) == "line 2, column 10: note: buckets are 0 to 3, and 4 means 0; write 0"


@given(rules.rule_sets(properties=True, may_fail=True))
def test_any_rule_can_be_checked_as_text_and_as_tree(rule_set: RuleSet) -> None:
    as_tree = [(f.severity, f.message) for f in lint(rule_set)]
    as_text = [(f.severity, f.message) for f in lint(str(rule_set))]
    assert sorted(as_tree) == sorted(as_text)


@pytest.mark.full
@given(rules.rule_sets(), rules.boards(max_pieces=5), st.data())
@settings(max_examples=300)
def test_what_is_said_never_to_happen_never_happens(
    rule_set: RuleSet, board: Board, data: st.DataObject
) -> None:
    rule_set = parse(str(rule_set))
    findings = lint(rule_set)
    dead = min((f.line for f in findings if "never reached" in f.message), default=99)
    idle = {(f.line, f.column) for f in findings if "the atom never accepts" in f.message}
    game = ReferenceGame(rule_set, board)
    while game.finish == 0:
        line = rule_set.lines[game.line]
        assert line.span is not None
        assert line.span.line < dead
        spans = [atom.span for atom in line.atoms]
        assert not all(span and (span.line, span.column) in idle for span in spans)
        game.attempt(*data.draw(st.sampled_from(game.legal_moves())))


@pytest.mark.parametrize(
    ("text", "message", "remedy"),
    [
        ("((p+1)*(p+2),*,*,*,0)", "found (p+1)*(p+2)", "an expression can stand"),
        ("(*,*,*,(p+1)*(2),0)", "found the expression (p+1)*2", "conditions on the cell can be"),
        ("(*,*,*,*)", "(count, shapes, colors, positions, buckets), found 4", "write * for a"),
        ("(*,*,*,*,{0})", "found '{'", "a list is written in brackets, [1,2]"),
    ],
)
def test_what_was_found_is_not_taken_for_the_remedy(text: str, message: str, remedy: str) -> None:
    (finding,) = lint(text)
    assert finding.message.endswith(message)
    assert finding.remedy.startswith(remedy)
    with pytest.raises(RuleSyntaxError) as error:
        parse(text)
    assert (f"({remedy}" in str(error.value)) == (error.value.remedy is not None)
    assert (error.value.in_file("a").remedy, error.value.in_file("a").file) == (
        error.value.remedy,
        "a",
    )
