"""Every argument that takes one of several words refuses any other, and names those it takes."""

import inspect
import types
import typing

import numpy as np
import pytest

import gnomon
import gnomon.ranking
import gnomon.scores
import gnomon.stats
from gnomon.errors import UnknownNameError

X = np.random.default_rng(0).normal(size=(4, 6))
TABLE = gnomon.ScoreTable.from_arrays({"a": X, "b": X[::-1] + 1.0})
CURVES = gnomon.ScoreTable.from_arrays({"a": X[..., None] + np.arange(3.0)}, steps=range(3))
#: What the functions need beside the word; a table, if they are not here.
NEEDED = {
    "check_claim": (TABLE, "b worse than a", "mean"),
    "curves": (CURVES,),
    "mann_whitney": (X[0], X[1]),
    "on_grid": (CURVES,),
    "summarize_runs": (CURVES,),
}


def words(hint):
    """Return the words of a hint that allows nothing else but None."""
    if typing.get_origin(hint) is typing.Literal:
        return [word for word in typing.get_args(hint) if isinstance(word, str)]
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        parts = typing.get_args(hint)
        known = [words(part) for part in parts if part is not type(None)]
        return [word for part in known for word in part] if all(known) else []
    return []


def arguments():
    """Yield every public function with each of its arguments that takes one of several words."""
    seen = set()
    for package in (gnomon, gnomon.stats, gnomon.ranking, gnomon.scores):
        for name in package.__all__:
            function = getattr(package, name)
            if not inspect.isfunction(function) or function in seen:
                continue
            seen.add(function)
            hints = typing.get_type_hints(function, localns={"ScoreTable": gnomon.ScoreTable})
            for argument, hint in hints.items():
                if argument != "return" and words(hint):
                    yield pytest.param(function, argument, id=f"{name}-{argument}")


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
@pytest.mark.parametrize(("function", "argument"), list(arguments()))
def test_a_wrong_word_is_refused(function, argument, tmp_path):
    name = function.__name__
    options = {argument: "nonsense"}
    if name == "read_scores":
        file = tmp_path / "scores.csv"
        file.write_text("algorithm,task,score\na,t,1\nb,t,2\n", "utf-8")
        NEEDED[name] = (file,)
    with pytest.raises(UnknownNameError, match="nonsense"):
        function(*NEEDED.get(name, (TABLE,)), **options)
