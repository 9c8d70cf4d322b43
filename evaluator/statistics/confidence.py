"""The confidence level of every interval with its text for tables, pages and help texts, and the number of resamples.

The pages under `docs/` state the level as a number, so a change has to be made there too. The significance level of
rank ranges is another constant, `holm.ALPHA`.
"""

from __future__ import annotations

LEVEL = 0.95
RESAMPLES = 1000
"""The number of bootstrap resamples behind an interval, unless another is given."""


def percent() -> str:
    """Return the confidence level as text: `95 %`."""
    return f"{100 * LEVEL:g} %"
