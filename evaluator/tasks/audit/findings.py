"""Audit findings: severity, location, meaning and advice."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_DIGITS = 6


class Severity(enum.Enum):
    """The severity of a finding.

    An error prevents publication. A warning must be answered in writing before publication. A note is only information.
    """

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Finding:
    """One finding of an audit. It may quote gold, so it must be shown only to those who manage the split.

    code: the kind of finding, for programs. found: what was observed. meaning: why it matters. advice: what to do.
    file, line: the location; line None: the whole file, file None: the whole split. numbers: the numbers behind
    `found`, as JSON values.
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


def plain(value: Any) -> Any:
    """Return a value, which may be nested, as JSON values. A number that is not finite becomes None.

    Floats are rounded to six significant digits, so that a difference in the last bit does not change a report.
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
