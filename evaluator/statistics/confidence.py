"""The confidence level of every interval, and its text for tables, pages and help texts.

The pages under `docs/` state the level as a number, so a change has to be made there too. The significance level of
rank ranges is another constant, `holm.ALPHA`.
"""

from __future__ import annotations

LEVEL = 0.95


def percent() -> str:
    """Return the confidence level as text: `95 %`."""
    return f"{100 * LEVEL:g} %"
