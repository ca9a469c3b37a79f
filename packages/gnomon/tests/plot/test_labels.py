"""Names on several lines, and legends."""

from hypothesis import given
from hypothesis import strategies as st

from gnomon.plot.labels import in_lines, name_series
from gnomon.plot.style import new_drawing


@given(st.text("ab -_=,.", max_size=120), st.integers(4, 30), st.integers(1, 4))
def test_lines_are_short_and_few_and_hold_the_name(name, width, most):
    text = in_lines(name, width, most)
    lines = text.split("\n")
    assert len(lines) <= most
    assert all(len(line) <= width for line in lines)
    letters = "".join(name.split())
    shown = "".join(text.split())
    head, cut, tail = shown.partition("…")
    assert letters.startswith(head)
    assert letters.endswith(tail) if cut else shown == letters


def test_words_stay_whole_if_they_fit():
    assert in_lines("as-one-reads-backwards") == "as-one-reads-backwards"
    assert in_lines("as-one-reads-backwards", 11) == "as-one-\nreads-\nbackwards"
    assert in_lines("dqn, learning_rate=0.03, gamma=-1") == "dqn, learning_rate=0.03,\ngamma=-1"
    assert in_lines("x" * 90 + "end", 10).endswith("end")


def test_names_stand_beside_the_axes():
    drawing = new_drawing(6, 3)
    ax = drawing.subplots()
    for i in range(9):
        ax.plot([0, 1], [0, i], label=f"agent {i}")
    name_series(ax)
    drawing.draw_without_rendering()
    assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1


def test_a_single_line_is_named_by_the_title():
    ax = new_drawing(6, 3).subplots()
    ax.plot([0, 1], [0, 1], label="alone")
    name_series(ax)
    assert ax.get_legend() is None
    assert ax.get_title("right") == "alone"
