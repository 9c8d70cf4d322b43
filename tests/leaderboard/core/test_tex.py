"""Escaping for TeX: TeX typesets any user text as written, and no part of it is a command."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.core.text.latex_text import escaped
from leaderboard.core.text.plain_text import one_line

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


def typeset_by_tex(text: str) -> str:
    """What TeX would typeset; fails at any command, argument or comment."""
    typeset, offset = [], 0
    while offset < len(text):
        token = TOKEN.match(text, offset)
        assert token, f"{text[offset:]!r} is not escaped"
        typeset.append(MACROS[token["macro"]] if token["macro"] else token["sign"] or token["plain"] or "")
        offset = token.end()
    return "".join(typeset)


def brace_depths(text: str) -> list[int]:
    """Nesting depth of braces at each position, as BibTeX counts it."""
    depth, levels = 0, [0]
    for sign in text:
        depth += {"{": 1, "}": -1}.get(sign, 0)
        levels.append(depth)
    return levels


@given(st.one_of(st.text(max_size=200), NASTY))
def test_text_is_typeset_as_written(text: str) -> None:
    latex = escaped(text)
    assert typeset_by_tex(latex) == unicodedata.normalize("NFC", one_line(text))
    assert not [pair for pair in LIGATURES if pair in latex]
    assert "\n" not in latex and min(brace_depths(latex)) == 0 == brace_depths(latex)[-1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a--b", "a-{}-b"),
        ("---", "-{}-{}-"),
        ("?`!`", "?{}`!{}`"),
        ("e\u0301", "\u00e9"),
        (r"\input{/etc/passwd}", r"\textbackslash{}input\textbraceleft{}/etc/passwd\textbraceright{}"),
        ("50 % of $x_1^2$", r"50 \% of \$x\_1\textasciicircum{}2\$"),
    ],
)
def test_examples(text: str, expected: str) -> None:
    assert escaped(text) == expected


@pytest.mark.parametrize("order", ["%", "\\", "a_b", "{", "~", "$", "&", "#", "^"])
def test_a_command_would_be_detected(order: str) -> None:
    with pytest.raises(AssertionError, match="is not escaped"):
        typeset_by_tex(order)
