"""What an audit finds: how grave, where, what it means and what to do about it."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_DIGITS = 6


class Severity(enum.Enum):
    """An error blocks publishing; a warning must be answered in writing; a note is good to know."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


_ORDER = list(Severity)


@dataclass(frozen=True)
class Finding:
    """One finding. It may quote gold: it is for the curator alone.

    code: the same for the same kind of finding, for programs. file, line: where; None: the whole. found: what was seen.
    means: why that matters. do: what mends it. numbers: plain JSON values behind the sentence.
    """

    severity: Severity
    code: str
    found: str
    means: str
    do: str
    file: str | None = None
    line: int | None = None
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {
            "severity": self.severity.value,
            "code": self.code,
            "where": {"file": self.file, "line": self.line},
            "found": self.found,
            "means": self.means,
            "do": self.do,
            "numbers": plain(self.numbers),
        }


def gravest_first(findings: Sequence[Finding]) -> list[Finding]:
    """Errors, warnings, notes; within each in the order in which the checks found them."""
    return sorted(findings, key=lambda finding: _ORDER.index(finding.severity))


def plain(value: Any) -> Any:
    """JSON values: fractions cut to six digits, so that a last bit moves no report; what is no number is null."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, bool) or value is None or isinstance(value, str | int):
        return value
    number = float(value)
    return float(f"{number:.{_DIGITS}g}") if math.isfinite(number) else None


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"
