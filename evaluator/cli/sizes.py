"""Human-readable sizes. Units are decimal, as on the site: 4GB is 4,000,000,000 bytes."""

from __future__ import annotations

import re

from evaluator.errors import UsageError, shown

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "KI": 1 << 10, "MI": 1 << 20, "GI": 1 << 30}
_SIZE = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)\s*([KMG]I?|)B?", re.IGNORECASE | re.ASCII)


def read_size(name: str, text: str) -> int:
    """Return the number of bytes that a text states, such as `4GB`, `512M`, `1.5GiB` or `4000000000`.

    name: the option's name without hyphens, for the error message. Raises UsageError for any other text.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"--{name} is {shown(text)}, expected a size: 512MB, 4GB, 2GiB or a number of bytes")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def size_text(number: float) -> str:
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if number >= factor:
            return f"{number / factor:.3g} {unit}" if number < 100 * factor else f"{number / factor:,.0f} {unit}"
    return f"{number:.0f} bytes"
