"""The Game of Hidden Rules: rules, boards, learners, and experiments with them.

A player removes pieces from a board by moving them to one of four buckets; a hidden rule decides
which moves are accepted. The names below are loaded when they are first used. The packages
`rules`, `learners`, `experiments`, `people` (transcripts and mastery) and `induction` (what
players conclude) have the building blocks, and `errors` the exceptions.

Rules
    `parse` reads a rule text as a `RuleSet`, `load_rule` loads one that comes with the package and
    `available_rules` lists these. `explain` puts a rule into words, `check` finds mistakes,
    `equivalent` compares two rules and `draw_rules` makes all rules of a template.
The game
    `Board`, `Piece`, `BoardSpec`, `draw_boards` and `read_board_file` make boards of `N_CELLS`
    cells and `N_BUCKETS` buckets. `ReferenceGame` plays one board straight from the tree of a rule;
    `compile_rule` prepares a rule for the engine. `find_stalemate` searches for a board on which a
    rule gets stuck, and `random_way` for a way to get stuck on a board. `HiddenRulesEnv` and
    `HiddenRulesVectorEnv` are Gymnasium environments, registered as ``gohr/ColorMatch-v0`` and so
    on; the wrappers `LastSuccess` and `HistoryStack` determine how much of the history is observed.
    :mod:`gohr.outcomes` has the codes of replies, and :mod:`gohr.jax` the game in JAX.
Learners
    Subclass `Learner` to write your own; `available_learners` and `make_learner` give those that
    come with the package; `play` lets one play a rule and returns a
    `TrialLog` with every attempt.
Experiments
    An `ExperimentConfig` names rules and learners, `run` plays it into a `Run`, `score` makes
    a table of scores for :mod:`gnomon`, `elements` compares rules with a baseline, `verify` replays
    every attempt and `report` writes a page.

Examples
--------
>>> import gohr
>>> learner = gohr.make_learner("uniform", gohr.BoardSpec())
>>> gohr.play(gohr.draw_boards(3), learner, gohr.load_rule("anything-goes")).n_attempts
array([9, 9, 9])
"""

import lazy_loader

from gohr.registration import register_environments

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

register_environments()
