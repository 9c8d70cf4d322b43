"""Audit findings: severity, location, meaning and advice."""

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
    """One finding. It may quote gold, so it is for the curator alone.

    code: identifies the kind of finding, for programs. file, line: the location; None: the whole. found: the
    observation. means: why it matters. do: how to fix it. numbers: plain JSON values behind the sentence.
    """

    severity: Severity
    code: str
    found: str
    meaning: str
    advice: str
    file: str | None = None
    line: int | None = None
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {
            "severity": self.severity.value,
            "code": self.code,
            "where": {"file": self.file, "line": self.line},
            "found": self.found,
            "means": self.meaning,
            "do": self.advice,
            "numbers": plain(self.numbers),
        }


def gravest_first(findings: Sequence[Finding]) -> list[Finding]:
    """Return errors, warnings, then notes; within each in the order in which the checks found them."""
    return sorted(findings, key=lambda finding: _ORDER.index(finding.severity))


def plain(value: Any) -> Any:
    """Convert to JSON values: numbers rounded to six digits, so that a last bit does not change a report; non-finite is
    null.
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, bool) or value is None or isinstance(value, str | int):
        return value
    number = float(value)
    return float(f"{number:.{_DIGITS}g}") if math.isfinite(number) else None


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"
