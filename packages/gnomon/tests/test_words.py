"""Every argument that takes one of several words refuses any other, and names those it takes."""

import inspect
import types
import typing
from contextlib import suppress

import numpy as np
import pytest

import gnomon
import gnomon.compat.rliable
import gnomon.distillation
import gnomon.plot
import gnomon.reports
from gnomon.errors import UnknownNameError
from gnomon.scores import ScoreTable

DOORS = (gnomon, gnomon.stats, gnomon.ranking, gnomon.scores, gnomon.distillation, gnomon.plot,
         gnomon.reports, gnomon.compat.rliable)  # fmt: skip
X = np.random.default_rng(0).normal(size=(4, 6))
TABLE = ScoreTable.from_arrays({"a": X, "b": X[::-1] + 1.0})
ITEMS = ScoreTable.from_arrays({"a": X[:1] > 0, "b": X[1:2] > 0}, units="items")
CURVES = ScoreTable.from_arrays({"a": X[..., None] + np.arange(3.0)}, steps=range(3))
MANY = ScoreTable.from_arrays({f"a{i}": 9.0 + X[i % 4 :][:1] ** 2 + i for i in range(12)})
PREPARED = gnomon.distillation.prepare(MANY)
PROCEDURE = gnomon.distillation.PaperProcedure(2)
LINE = gnomon.plot.Line("a", X[0], X[1])
#: Arguments without which a word has no meaning; a table, if they are not here.
NEEDED = {
    "ReadRequest": (),
    "Reader": ("name", "files", bool, list),
    "ScoreTable": ({"algorithm": ["a"], "task": ["t"], "score": [1.0]},),
    "baselines": (MANY,),
    "create_performance_profile": ({"a": X}, [0.0, 1.0]),
    "curves": (CURVES,),
    "distill": (MANY,),
    "draw_lines": (gnomon.plot.style.new_drawing(4, 3).subplots(), [LINE]),
    "gate": (TABLE.select(algorithms=["b"]), TABLE.select(algorithms=["a"])),
    "get_interval_estimates": ({"a": X}, np.mean),
    "load_scores": ("gohr-full",),
    "mann_whitney": (X[0], X[1]),
    "nested_error": (PREPARED, PROCEDURE, 1),
    "predict": (gnomon.distill(MANY, size=2).model, MANY),
    "read_scores": ({"algorithm": ["a", "b"], "task": ["t", "t"], "score": [1.0, 2.0]},),
    "scores_report": (TABLE, "scores"),
    "search_subsets": (PREPARED, 1),
    "summarize_runs": (CURVES,),
}
#: Names of arguments that take words of which their type has no list, or a word in a sequence.
NAMES = ("by", "format", "kind", "method", "metric", "metrics", "pair", "procedure")
#: Arguments of these names that take any word, or that another argument must allow.
OTHERS = {
    ("Comparison", "method"), ("Comparison", "metric"),
    ("Estimate", "method"), ("Estimate", "metric"),
    ("ReadRequest", "metric"), ("ScoreTable", "metric"), ("read_scores", "metric"),
    ("nested_error", "procedure"), ("cross_validate", "procedure"),
}  # fmt: skip


def words(hint):
    """Return the words of a hint that allows nothing else but None and numbers."""
    if typing.get_origin(hint) is typing.Literal:
        return [word for word in typing.get_args(hint) if isinstance(word, str)]
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        parts = {*typing.get_args(hint)} - {type(None), float}
        known = [words(part) for part in parts]
        return [word for part in known for word in part] if all(known) else []
    return []


def callables():
    """Yield the public functions, classes and methods."""
    seen = set()
    for door in DOORS:
        own = [name for name, one in vars(door).items() if inspect.isroutine(one)
               and one.__module__ == door.__name__ and name[0] != "_"]  # fmt: skip
        for name in getattr(door, "__all__", own):
            one = getattr(door, name)
            found = [one] if inspect.isfunction(one) or inspect.isclass(one) else []
            if inspect.isclass(one):
                found += [m for n, m in inspect.getmembers(one, inspect.isfunction) if n[0] != "_"]
            for function in found:
                if function not in seen and function.__module__.startswith("gnomon"):
                    seen.add(function)
                    yield function


def arguments():
    """Yield every public function with each of its arguments that takes one of several words."""
    for function in callables():
        hinted = function.__init__ if inspect.isclass(function) else function
        for argument, parameter in inspect.signature(hinted).parameters.items():
            hint = parameter.annotation
            with suppress(NameError):  # of Matplotlib or a data frame, which are not imported
                hint = eval(hint, hinted.__globals__) if isinstance(hint, str) else hint
            name = function.__qualname__, argument
            if words(hint) or (argument in NAMES and name not in OTHERS):
                yield pytest.param(function, argument, id=".".join(name))


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
@pytest.mark.parametrize(("function", "argument"), list(arguments()))
def test_a_wrong_word_is_refused(function, argument):
    name = function.__qualname__
    options = {argument: "nonsense"}
    needed = NEEDED.get(name, (TABLE,))
    if name == "gate":
        options = {"metric": "mean", "regression": True} | options
    if argument == "pair":
        options = {argument: ["nonsense", "a"]}
    if argument == "by" and name in ("compare", "estimate", "report", "scores_report"):
        options |= {"by": ["nonsense"] if "report" in name else "nonsense"}
        needed = (ITEMS, *needed[1:])
    if argument == "outer":
        options["rng"] = np.random.default_rng(0)
    with pytest.raises((UnknownNameError, ValueError), match="nonsense"):
        function(*needed, **options)


@pytest.mark.parametrize(
    ("function", "needed", "options"),
    [
        (gnomon.stats.metric_named, ["nonsense"], {}),
        (gnomon.load_scores, ["nonsense"], {}),
        (ScoreTable.from_arrays, [{"a": X}], {"units": "nonsense"}),
        (gnomon.distill, [MANY], {"transform": "nonsense"}),
        (gnomon.distill, [MANY], {"summary": "nonsense"}),
        (gnomon.distillation.prepare, [MANY], {"group_by": "nonsense"}),
        (gnomon.compat.rliable.StratifiedBootstrap(X).conf_int, [np.mean, 5, "nonsense"], {}),
    ],
)
def test_a_wrong_word_among_further_options_is_refused(function, needed, options):
    with pytest.raises(UnknownNameError, match="nonsense"):
        function(*needed, **options)
