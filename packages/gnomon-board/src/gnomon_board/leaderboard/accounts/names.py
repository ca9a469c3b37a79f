"""Validation and normalisation of names, texts and links from users; keys of lookalike names.

Text is plain: there is no markup, and every page escapes it. Refused is what could deceive a reader
(letters that turn the direction of writing, or that cannot be seen) or break a database.
"""

from __future__ import annotations

import unicodedata
from urllib.parse import urlsplit

from gnomon_board.errors import Refusal

MAX_NAME = 64
MAX_TEXT = 4000
MAX_LINK = 500

#: Control, format (bidi marks, zero-width letters), surrogates, private use, not assigned.
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn")
#: Letters that Unicode calls letters, marks or signs, and that show nothing.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
#: Most marks on one letter; more of them would cover what stands above and below.
_MOST_MARKS = 4
#: Letters of other alphabets that look like Latin ones in most typefaces, and the digits 0 and 1.
_LOOKALIKES = str.maketrans(
    "абвгдезіјкӏмнорѕтухԁԛԝьαβγεικνορτυχωø01|",
    "a6bгдe3ijklmhopstyxdqwbaβyeiκvoptuxwooll",
)


def clean_name(text: str, what: str = "name") -> str:
    """Return a name in its normal form (NFC, single spaces).

    Raises Refusal: it is empty, has more than 64 letters, or one that cannot be seen.
    """
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not 1 <= len(name) <= MAX_NAME:
        raise Refusal(f"{what}: expected 1 to {MAX_NAME} letters, found {len(name)}")
    _refuse_hidden(name, what, but="")
    if not any(unicodedata.category(letter)[0] in "LN" for letter in name):
        raise Refusal(f"{what}: expected at least one letter or digit")
    return name


def name_key(name: str) -> str:
    """Return a key that names share if a reader would take them for the same."""
    folded = unicodedata.normalize("NFKD", name).casefold()
    bare = "".join(letter for letter in folded if not unicodedata.combining(letter))
    words = "".join(letter for letter in bare if letter.isalnum() or letter == "|")
    # What is made of signs alone is its own key.
    return (words.translate(_LOOKALIKES) or folded)[:128]


def clean_text(text: str, what: str = "description") -> str:
    """Return a description of at most 4000 letters, in its normal form; errors as a name's."""
    cleaned = unicodedata.normalize("NFC", text.replace("\r\n", "\n").strip())
    if len(cleaned) > MAX_TEXT:
        raise Refusal(f"{what}: expected at most {MAX_TEXT} letters, found {len(cleaned)}")
    _refuse_hidden(cleaned, what, but="\n\t")
    return cleaned


def clean_link(text: str, what: str = "link") -> str:
    """Return a link to a web page, or nothing. It is shown, and never followed by the server.

    Raises Refusal: it is not an address with http or https, or names a user.
    """
    link = text.strip()
    if not link:
        return ""
    if len(link) > MAX_LINK:
        raise Refusal(f"{what}: expected at most {MAX_LINK} letters, found {len(link)}")
    try:
        parts = urlsplit(link)
        good = (
            parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
        )
    except ValueError:
        good = False
    plain = all(" " < letter < "\x7f" and letter not in "\"'<>\\`{}^|" for letter in link)
    if not (good and plain):
        raise Refusal(f"{what}: expected http://... or https://..., found {link[:40]!r}")
    return link


def _refuse_hidden(text: str, what: str, but: str) -> None:
    marks = 0
    for letter in text:
        category = unicodedata.category(letter)
        if (category in _HIDDEN or letter in _BLANK) and letter not in but:
            raise Refusal(f"{what}: expected letters that can be seen, found U+{ord(letter):04X}")
        marks = marks + 1 if category in ("Mn", "Me") else 0
        if marks > _MOST_MARKS:
            raise Refusal(f"{what}: expected at most {_MOST_MARKS} marks on a letter, found more")
