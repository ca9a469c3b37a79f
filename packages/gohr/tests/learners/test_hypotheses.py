import numpy as np
import pytest

from gohr import BoardSpec, compile_rule
from gohr.learners import Ideal
from gohr.rules import available_rules, available_templates, draw_rules, load_template, parse


@pytest.fixture(scope="module")
def space():
    return Ideal().belief.space


@pytest.mark.full
def test_the_whole_library_and_ten_thousand_others(space):
    names = {h.name for h in space.hypotheses if h.family == "library"}
    assert names == set(available_rules())
    bounds = zip(space.starts[:-1], space.starts[1:], strict=True)
    assert len({space.programs[a:b].tobytes() for a, b in bounds}) > 10_000 + len(names)
    assert len({h.family for h in space.hypotheses}) == 17


def test_texts_are_all_different_within_a_family(space):
    texts = [(h.family, h.text) for h in space.hypotheses]
    assert len(set(texts)) == len(texts)


def test_families_are_equally_probable_and_so_are_the_rules_of_each(space):
    prior = np.exp(space.log_prior)
    assert prior.sum() == pytest.approx(1)
    families = np.array([h.family for h in space.hypotheses])
    for family in set(families):
        inside = prior[families == family]
        assert inside.sum() == pytest.approx(1 / len(set(families)))
        assert inside.min() == inside.max()


def test_a_rule_put_together_from_atoms_is_the_compiled_text(space):
    rng = np.random.default_rng(0)
    by_family = {}
    for k, h in enumerate(space.hypotheses):
        by_family.setdefault(h.family, []).append(k)
    for members in by_family.values():
        for k in rng.choice(members, 12).tolist():
            program = space.programs[space.starts[k] : space.starts[k + 1]]
            text = space.hypotheses[k].text
            assert program.tobytes() == compile_rule(parse(text)).program.tobytes(), text


@pytest.mark.parametrize("template", available_templates())
def test_what_the_templates_make_is_among_them(space, template):
    # By what they do: the text of a rule can be written in several ways.
    bounds = zip(space.starts[:-1], space.starts[1:], strict=True)
    known = {space.programs[a:b].tobytes() for a, b in bounds}
    for rule in draw_rules(load_template(template), name=template):
        program = compile_rule(parse(rule.text)).program
        assert program.tobytes() in known, rule.text


def test_small_palettes_have_their_own_space():
    spec = BoardSpec(2, 0, 0, ("star", "circle"), ("red",))
    found = Ideal(spec).belief.space.hypotheses
    assert sum(h.family == "shape" for h in found) == 16
    assert sum(h.family == "color" for h in found) == 4
