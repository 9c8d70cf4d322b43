"""Findings about many lines: all lines with the same fault give one finding, which names the first line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from evaluator.errors import row_or_line
from evaluator.tasks.audit.findings import Finding, Severity
from evaluator.tasks.audit.split import Split

_NAMED = 10


@dataclass
class GroupedFinding:
    """One kind of fault, and the lines on which it occurs.

    what: what the lines have in common, as the rest of a sentence that begins with "3 lines", such as "have no text".
    severity, code, meaning, advice: as for `Finding`. one_of: the plural noun that replaces "lines" in this sentence,
    such as "facts". indices: the index of the line of each occurrence. examples: texts that describe the first
    occurrences.
    """

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
    """The kinds of faults that a task looks for in a split.

    Declare each kind with `kind`, which returns a GroupedFinding, and add to that the lines with this fault. Then take
    `findings`, which are in the order of declaration.
    """

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
            at = "in row" if row_or_line(self._split.file) == "row" else "on line"
            example = f" ({finding.examples[0]})" if finding.examples else ""
            yield Finding(
                finding.severity,
                finding.code,
                f"{len(finding.indices)} {finding.one_of} {finding.what}, the first {at} {first}{example}",
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
