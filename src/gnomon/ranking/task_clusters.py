"""Clusters of tasks that are alike, by complete linkage, and short names by what went before."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from string import ascii_uppercase

#: Two tasks are of one cluster if no p-value between its members is below.
_SAME = 0.5


def labels_of(names: Sequence[str]) -> dict[str, str]:
    """Return a short name of each task by the rules before it, one letter each.

    Examples
    --------
    >>> labels_of(["x", "true.ant:x", "true.ant:false.bee:x"])
    {'x': '0', 'true.ant:x': 'A', 'true.ant:false.bee:x': 'Ab'}
    """
    parts = {name: name.split(":") for name in names}
    before = sorted({_bare(part) for each in parts.values() for part in each[:-1]})
    if len({each[-1] for each in parts.values()}) > 1 or len(before) > len(ascii_uppercase):
        return {name: name for name in names}
    own = [rule[0].upper() for rule in before]
    letters = dict(zip(before, own if len({*own}) == len(own) else ascii_uppercase, strict=False))
    return {
        name: "".join(
            letters[_bare(part)].lower() if part.startswith("false.") else letters[_bare(part)]
            for part in each[:-1]
        )
        or "0"
        for name, each in parts.items()
    }


def _bare(part: str) -> str:
    """Return the rule without whether it was mastered."""
    return part.removeprefix("true.").removeprefix("false.")


def cluster_tasks(
    labels: Mapping[str, str], p_values: Sequence[float]
) -> tuple[dict[str, int], str]:
    """Return the number of each task's cluster, and the tree of merges.

    Parameters
    ----------
    labels : mapping from task to its label
    p_values : sequence of float
        Of each two tasks, in the order of ``itertools.combinations``; NaN where one has no values.

    Examples
    --------
    >>> cluster_tasks({"x": "0", "a:x": "A", "b:x": "B"}, [0.75, 0.25, 0.25])
    ({'x': 1, 'a:x': 1, 'b:x': 2}, '0.75( 0.25( 0, A), B)')
    """
    names = list(labels)
    if len(names) < 2:
        return dict.fromkeys(names, 1), labels[names[0]]
    from scipy.cluster.hierarchy import fcluster, linkage

    distances = [1.0 if math.isnan(p) else 1.0 - p for p in p_values]
    merges = linkage(distances, "complete")
    found = fcluster(merges, _SAME, "distance")
    # By the order of the tasks, for the library numbers them by the tree.
    number = {label: k for k, label in enumerate(dict.fromkeys(found.tolist()), 1)}
    texts = {k: (labels[name], labels[name]) for k, name in enumerate(names)}
    for k, (a, b, height, _) in enumerate(merges.tolist(), len(names)):
        left, right = sorted((texts[int(a)], texts[int(b)]))
        texts[k] = left[0], f"{height}( {left[1]}, {right[1]})"
    return dict(zip(names, (number[x] for x in found.tolist()), strict=True)), texts[max(texts)][1]
