"""Template filter that shows the output of untrusted programs safely."""

from __future__ import annotations

from django import template

register = template.Library()

_UNCHANGED = "\n\t"
_INVISIBLE = "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
"""Invisible characters, most of which change the direction of text or break lines."""
_PICTURES = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in _UNCHANGED},
    0x7F: "\N{SYMBOL FOR DELETE}",
    **{code: f"\\x{code:02x}" for code in range(0x80, 0xA0)},
    **{ord(character): f"\\u{ord(character):04x}" for character in _INVISIBLE},
}


@register.filter
def printed(text: str) -> str:
    """Replace control and invisible characters by visible symbols, such as ␛ for ESC, except line feeds and tabs.

    The result is not marked as safe, so templates escape its HTML.
    """
    return text.replace("\r\n", "\n").translate(_PICTURES)
