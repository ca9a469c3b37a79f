"""Languages of the pages: every file has every text, with the same places to fill in."""

from __future__ import annotations

import re

import pytest

from gnomon.errors import UnknownNameError
from gnomon_board.studies import available_languages, texts


def test_every_language_says_all_that_english_says():
    english = texts("en")
    for language in available_languages():
        other = texts(language)
        assert list(other) == list(english), language
        for name, text in english.items():
            assert set(re.findall(r"\{\w+\}", other[name])) == set(re.findall(r"\{\w+\}", text)), (
                name
            )


def test_a_language_that_there_is_not_is_named():
    with pytest.raises(UnknownNameError, match="unknown language 'dee'; did you mean 'de'"):
        texts("dee")
