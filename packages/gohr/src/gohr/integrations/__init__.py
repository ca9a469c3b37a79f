"""The game in the frameworks with which others evaluate and train models, one file each.

Each file needs the extra of its name (``pip install gohr[inspect]``); users of that framework
import it, Gnomon never does. All of them share the words and the reading of answers of
:mod:`gohr.integrations.trial_in_words`, and the engine of the game, so that a result does not
depend on the framework.
"""
