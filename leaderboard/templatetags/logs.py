"""What programs print, made safe to look at."""

from __future__ import annotations

from django import template

register = template.Library()

_KEPT = "\n\t"
_TURNING = "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
"""What turns the direction of text or breaks its lines without being seen."""
_PICTURES = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in _KEPT},
    0x7F: "\N{SYMBOL FOR DELETE}",
    **{code: f"\\x{code:02x}" for code in range(0x80, 0xA0)},
    **{ord(character): f"\\u{ord(character):04x}" for character in _TURNING},
}


@register.filter
def printed(text: str) -> str:
    """Control characters as pictures of themselves (an escape is ␛); lines and tabs stay. Escaped as any text is."""
    return text.replace("\r\n", "\n").translate(_PICTURES)
