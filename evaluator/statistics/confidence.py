"""The confidence level of every interval, and its text for tables, pages and help texts.

The pages under `docs/` name it in prose.
"""

from __future__ import annotations

LEVEL = 0.95


def percent() -> str:
    """The level as text: `95 %`."""
    return f"{100 * LEVEL:g} %"
