"""What each tag of the rules costs each learner, over all rules of a run."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon.errors import UnknownNameError, check_level, joined
from gnomon.printing import p_value
from gnomon.results import FieldRecord, Results
from gnomon.stats import holm
from gohr.experiments.rule_elements import bracketed, trials_by_rule
from gohr.experiments.scores import opened
from gohr.rules.catalogue import info_of, rule_info

if TYPE_CHECKING:
    from gnomon import ScoreTable
    from gohr.experiments.config import ExperimentConfig
    from gohr.experiments.runs import Run

#: The errors of each trial, by learner and rule.
ErrorsByRule = Mapping[str, Mapping[str, npt.NDArray[np.float64]]]
#: Tags of the origin of a rule.
_NOT_ELEMENTS = {"paper"}


@dataclass(frozen=True, slots=True)
class TagEffect(FieldRecord):
    """Factor by which a tag of the rules multiplies the errors of a learner.

    Parameters
    ----------
    tag : str
        The element, such as ``memory``.
    learner : str
    versus : str
        Empty, or another learner: the ratio of the two learners' effects, their interaction.
    ratio, low, high : float
        Factor by which 1 + median errors is multiplied where the tag is present, other tags equal.
        No interval where the tags explain the errors of all its rules, or of one, exactly.
    p_value, p_adjusted : float
        That the factor is 1, before and after Holm's correction over all rows.
    n_rules, n_tagged : int
        Rules in the regression, and those with the tag.
    """

    tag: str
    learner: str
    versus: str
    ratio: float
    low: float
    high: float
    p_value: float
    p_adjusted: float
    n_rules: int
    n_tagged: int


class TagEffects(Results[TagEffect]):
    """Effects of the tags of the rules on each learner, and their interactions."""

    columns = ("tag", "learner", "times the errors", "p (Holm)", "rules")
    drawn_by = "gohr.run_page.figures:tag_figure"

    @property
    def title(self) -> str:
        """Description of the table."""
        return "Elements over all rules"

    @property
    def notes(self) -> tuple[str, ...]:
        """The model."""
        text = "Least squares of log(1 + median errors) on tags of the rules, robust t intervals"
        both = any(e.versus for e in self)
        return (f"{text}; a : b is the ratio of the effects on a and on b" if both else text,)

    def rows(self) -> Sequence[Mapping[str, Any]]:
        """Return a row for each tag and learner, or pair of learners."""
        return [
            {
                "tag": e.tag,
                "learner": f"{e.learner} : {e.versus}" if e.versus else e.learner,
                "times the errors": bracketed(e.ratio, e.low, e.high, ""),
                "p (Holm)": p_value(e.p_adjusted),
                "rules": f"{e.n_tagged} of {e.n_rules}",
            }
            for e in self
        ]


def tag_effects(
    run: str | os.PathLike[str] | Run | ScoreTable,
    tags: Sequence[str] | None = None,
    *,
    level: float = 0.95,
) -> TagEffects:
    """Estimate what each tag of the rules costs each learner, over all rules of a run.

    The logarithm of 1 + the median errors on a rule is regressed on the tags in the rule's head by
    least squares. The rules are the sample; the trials of a rule enter by their median alone, and
    rules that most trials did not learn by a lower bound of it. Intervals are Student's t with the
    CR2 variance and Satterthwaite's degrees of freedom, since rules with a tag may vary more than
    those without: from 9 rules with three tags they cover in 92 to 98 %, also where the standard
    deviation of the tagged rules is three times that of the others (``benchmarks/elements.py``).
    Tags that follow from other tags are left out with a warning.

    Parameters
    ----------
    run : path, Run or ScoreTable
        A table has errors as scores and rules of the library as tasks.
    tags : sequence of str, optional
        The tags in the regression; all tags of the rules by default, which suits many rules only.
    level : float
        Confidence level of the intervals, between 0 and 1.

    Returns
    -------
    TagEffects
        A row for each tag and learner, then one for each tag and pair of learners that played the
        same rules; no rows if there are too few rules for the tags.

    Raises
    ------
    ValueError
        The level is not between 0 and 1.
    UnknownNameError
        No rule has the tag, or a task of the table is not a rule of the library.

    Warns
    -----
    StuckRuleWarning
        If a rule of a run lets no piece move on most boards as they are dealt.

    References
    ----------
    Bell and McCaffrey (2002), Survey Methodology 28:169. Imbens and Kolesár (2016), Review of
    Economics and Statistics 98:701.

    Examples
    --------
    The scores that come with gnomon, of 90 rules:

    >>> import gnomon as gn
    >>> errors = gn.load_scores("gohr-full", "tce").select(algorithms=["frugal", "ideal"])
    >>> found = tag_effects(errors, ["cell", "order", "memory", "count"])
    >>> memory = found.where(tag="memory", learner="ideal", versus="")[0]
    >>> memory.low < memory.ratio < memory.high
    True
    """
    check_level(level)
    from gnomon import ScoreTable

    errors: ErrorsByRule
    if isinstance(run, ScoreTable):
        tags_of = {rule: set(rule_info(rule).tags) for rule in run.tasks}
        errors = {a: {rule: run.runs(a, rule) for rule in run.tasks_of(a)} for a in run.algorithms}
    else:
        folder, episodes = opened(run)
        tags_of, played = tags_of_rules(folder.config), trials_by_rule(episodes)
        errors = {a: {rule: x.errors for rule, x in rules.items()} for a, rules in played.items()}
    return tag_effects_of(errors, tags_of, tags, level=level)


def tags_of_rules(config: ExperimentConfig) -> dict[str, set[str]]:
    """Return the tags of each rule of an experiment."""
    return {r.name: set(info_of(r.name, r.rule_set).tags) for r in config.rules}


def tag_effects_of(
    errors: ErrorsByRule,
    tags_of: Mapping[str, set[str]],
    tags: Sequence[str] | None = None,
    *,
    level: float = 0.95,
) -> TagEffects:
    """Return :func:`tag_effects` of errors of trials that have been read, by learner and rule."""
    known = sorted({tag for own in tags_of.values() for tag in own} - _NOT_ELEMENTS)
    for tag in tags or ():
        if tag not in known:
            raise UnknownNameError("tag", tag, known)
    logs = {
        learner: {rule: math.log1p(float(np.median(made))) for rule, made in rules.items()}
        for learner, rules in errors.items()
    }
    tables = [(learner, "", values) for learner, values in logs.items()]
    for a, b in combinations(logs, 2):
        both = [rule for rule in logs[a] if rule in logs[b]]
        tables.append((a, b, {rule: logs[a][rule] - logs[b][rule] for rule in both}))
    found: list[TagEffect] = []
    untagged = [rule for rule, own in tags_of.items() if not own]
    warnings = [f"rules without tags count as having none: {joined(untagged)}"] if untagged else []
    for learner, versus, values in tables:
        effects, left_out = _regression(values, tags_of, tags or known, level)
        found += [replace(effect, learner=learner, versus=versus) for effect in effects]
        warnings += left_out
    adjusted = holm([e.p_value for e in found]).tolist() if found else []
    records = tuple(replace(e, p_adjusted=p) for e, p in zip(found, adjusted, strict=True))
    return TagEffects(records, {"level": level}, tuple(dict.fromkeys(warnings)))


def _regression(
    values: Mapping[str, float],
    tags_of: Mapping[str, set[str]],
    tags: Sequence[str],
    level: float,
) -> tuple[list[TagEffect], list[str]]:
    """Return the effect of each tag on the values of the rules, and which tags are left out."""
    from scipy.special import stdtr, stdtrit  # scipy.stats takes a second to import

    rules = list(values)
    columns, names, left_out = [np.ones(len(rules))], [], []
    for tag in tags:
        column = np.array([float(tag in tags_of[rule]) for rule in rules])
        if np.linalg.matrix_rank(np.stack([*columns, column], axis=1)) > len(columns):
            columns.append(column)
            names.append(tag)
        else:
            left_out.append(tag)
    x, y = np.stack(columns, axis=1), np.array([values[rule] for rule in rules])
    warnings = (
        [f"tags that follow from others are left out: {joined(left_out)}"] if left_out else []
    )
    if not names or len(rules) <= len(columns):
        need = f"{len(names)} tags need more than {len(names) + 1} rules, found {len(rules)}"
        return [], [f"no effects of tags: {need if names else 'no rule differs in a tag'}"]
    weights = np.linalg.pinv(x)  # of each rule in each effect, shape (effects, rules)
    found, off = weights @ y, np.eye(len(rules)) - x @ weights
    residual, freedom = off @ y, np.diag(off)
    # Without residuals the variance of the rules is unknown, not zero; and so is that of an effect
    # in which a rule that the tags explain alone has a part.
    alone = freedom < 1e-9
    unknown = (np.abs(weights[:, alone]) > 1e-9).any(axis=1) | (
        residual @ residual <= 1e-20 * (y @ y)
    )
    shares = weights**2 / np.where(alone, np.inf, freedom)
    errors = np.where(unknown, np.nan, np.sqrt(shares @ residual**2))
    with np.errstate(divide="ignore", invalid="ignore"):
        df = (shares @ freedom) ** 2 / np.einsum("ji,il,jl->j", shares, off**2, shares)
        reach = stdtrit(df, (1.0 + level) / 2.0) * errors
        p = (2.0 * stdtr(df, -np.abs(found / errors))).tolist()
    if single := [name for name, no in zip(names, unknown[1:], strict=True) if no]:
        warnings.append(f"too few rules for an interval of the tags {joined(single)}")
    ratios, low, high = np.exp([found, found - reach, found + reach]).tolist()
    tagged = x.sum(axis=0).astype(int).tolist()
    return [
        TagEffect(tag, "", "", ratios[i], low[i], high[i], p[i], p[i], len(rules), tagged[i])
        for i, tag in enumerate(names, start=1)
    ], warnings
