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
        self._findings: list[GroupedFinding] = []

    def kind(
        self, severity: Severity, code: str, what: str, meaning: str, do: str, *, one_of: str = "lines"
    ) -> GroupedFinding:
        finding = GroupedFinding(severity, code, what, meaning, do, one_of)
        self._findings.append(finding)
        return finding

    def findings(self) -> Iterator[Finding]:
        for finding in self._findings:
            if not finding.indices:
                continue
            first = self._split.line(finding.indices[0])
            example = f" ({finding.examples[0]})" if finding.examples else ""
            yield Finding(
                finding.severity,
                finding.code,
                f"{len(finding.indices)} {finding.one_of} {finding.what}, the first on line {first}{example}",
                finding.meaning,
                finding.advice,
                self._split.file,
                first,
                {
                    "count": len(finding.indices),
                    "lines": [self._split.line(index) for index in dict.fromkeys(finding.indices)][:_NAMED],
                    "examples": finding.examples,
                },
            )
