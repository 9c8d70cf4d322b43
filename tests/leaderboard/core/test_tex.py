"""Text as TeX takes it: whatever people write, TeX would set it, and nothing of it is an order."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.core.latex_text import escaped
from leaderboard.core.plain_text import one_line

MACROS = {
    "textbackslash": "\\",
    "textbraceleft": "{",
    "textbraceright": "}",
    "textasciitilde": "~",
    "textasciicircum": "^",
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
}
TOKEN = re.compile(r"\\(?P<macro>[a-z]+)\{\}|\\(?P<sign>[&%$#_])|(?P<nothing>\{\})|(?P<plain>[^\\&%$#_{}~^])")
LIGATURES = ("--", "?`", "!`", "``", "''", ",,", "<<", ">>")
NASTY = st.text(st.sampled_from("\\&%$#_{}~^<>|-`'!?,\" \n\t\0aé\u0301\u202e\u200dA[]*"), max_size=40)


def set_by_tex(text: str) -> str:
    """What TeX would set; fails at whatever would be an order, an argument or a comment."""
    found, place = [], 0
    while place < len(text):
        token = TOKEN.match(text, place)
        assert token, f"{text[place:]!r} is not set as it stands"
        found.append(MACROS[token["macro"]] if token["macro"] else token["sign"] or token["plain"] or "")
        place = token.end()
    return "".join(found)


def depths(text: str) -> list[int]:
    """How deep BibTeX finds each place in braces."""
    depth, found = 0, [0]
    for sign in text:
        depth += {"{": 1, "}": -1}.get(sign, 0)
        found.append(depth)
    return found


@given(st.one_of(st.text(max_size=200), NASTY))
def test_it_is_set_as_it_was_written(text: str) -> None:
    made = escaped(text)
    assert set_by_tex(made) == unicodedata.normalize("NFC", one_line(text))
    assert not [pair for pair in LIGATURES if pair in made]
    assert "\n" not in made and min(depths(made)) == 0 == depths(made)[-1]


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("a--b", "a-{}-b"),
        ("---", "-{}-{}-"),
        ("?`!`", "?{}`!{}`"),
        ("e\u0301", "\u00e9"),
        (r"\input{/etc/passwd}", r"\textbackslash{}input\textbraceleft{}/etc/passwd\textbraceright{}"),
        ("50 % of $x_1^2$", r"50 \% of \$x\_1\textasciicircum{}2\$"),
    ],
)
def test_examples(text: str, made: str) -> None:
    assert escaped(text) == made


@pytest.mark.parametrize("order", ["%", "\\", "a_b", "{", "~", "$", "&", "#", "^"])
def test_an_order_would_be_found(order: str) -> None:
    with pytest.raises(AssertionError, match="is not set"):
        set_by_tex(order)
