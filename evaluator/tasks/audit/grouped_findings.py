"""Groups many lines with one fault into one finding, which names the first of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from evaluator.tasks.audit.findings import Finding, Severity
from evaluator.tasks.audit.split import Split

_NAMED = 10


@dataclass
class GroupedFinding:
    """One kind of fault. what: the text after "N lines"; one_of: the noun counted, in the plural."""

    severity: Severity
    code: str
    what: str
    meaning: str
    advice: str
    one_of: str = "lines"
    indices: list[int] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)

    def add(self, index: int, example: str = "") -> None:
        self.indices.append(index)
        if example and len(self.examples) < _NAMED:
            self.examples.append(example)


class GroupedFindings:
    """Kinds of faults in the order of declaration."""

    def __init__(self, split: Split) -> None:
        self._split = split
        self._faults: list[GroupedFinding] = []

    def kind(
        self, severity: Severity, code: str, what: str, meaning: str, do: str, *, one_of: str = "lines"
    ) -> GroupedFinding:
        fault = GroupedFinding(severity, code, what, meaning, do, one_of)
        self._faults.append(fault)
        return fault

    def findings(self) -> Iterator[Finding]:
        for fault in self._faults:
            if not fault.indices:
                continue
            first = self._split.line(fault.indices[0])
            example = f" ({fault.examples[0]})" if fault.examples else ""
            yield Finding(
                fault.severity,
                fault.code,
                f"{len(fault.indices)} {fault.one_of} {fault.what}, the first on line {first}{example}",
                fault.meaning,
                fault.advice,
                self._split.file,
                first,
                {
                    "count": len(fault.indices),
                    "lines": [self._split.line(index) for index in dict.fromkeys(fault.indices)][:_NAMED],
                    "examples": fault.examples,
                },
            )
