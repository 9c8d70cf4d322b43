"""Duplicate questions within a split: exact, same words, or near-duplicates; and duplicates with different answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from typing import Any

from evaluator.curation.audit.duplicates.similar_texts import near_pairs
from evaluator.tasks.audit.findings import Finding, Severity
from evaluator.tasks.audit.split import AnswerKind, Split, as_words
from evaluator.text import count_noun

_NAMED = 10


def duplicates(split: Split, *, threshold: float) -> tuple[dict[str, Any], list[Finding]]:
    """Return counts of duplicates, and findings.

    exact: the number of questions that repeat an earlier one exactly; same_words: the number that repeat one in the
    same lower-cased words. near: counts of the near-duplicate pairs among the questions' texts (`near_pairs`); None if
    questions have no texts. threshold: the Jaccard similarity from which texts are near-duplicates.
    """
    letters = _equal_keys(list(split.questions))
    words = _equal_keys([as_words(question) for question in split.questions])
    counts: dict[str, Any] = {
        "exact": sum(len(indices) - 1 for indices in letters),
        "same_words": sum(len(indices) - 1 for indices in words),
        "near": None,
        "threshold": threshold,
    }
    findings = [*_contradictions(split, letters), *_repeated(split, letters, words)]
    if split.texts:
        counts["near"], near_findings = _near_duplicates(split, threshold)
        findings += near_findings
    return counts, findings


def _equal_keys(keys: list[Hashable]) -> list[list[int]]:
    """Return, for each key that occurs twice or more, the list of its indices in `keys`. None is not a key."""
    indices_of: dict[Hashable, list[int]] = defaultdict(list)
    for index, key in enumerate(keys):
        if key is not None:
            indices_of[key].append(index)
    return [indices for indices in indices_of.values() if len(indices) > 1]


def _contradictions(split: Split, letters: list[list[int]]) -> list[Finding]:
    bad = [indices for indices in letters if len({split.answers[index] for index in indices}) > 1]
    if not bad or split.answer_kind is AnswerKind.RATING:  # people may rate a text twice
        return []
    return [
        Finding(
            Severity.ERROR if split.answer_kind is AnswerKind.LABEL else Severity.WARNING,
            "duplicates-disagree",
            f"{count_noun(len(bad), 'question occurs', 'questions occur')} "
            f"with different answers, first on lines {_lines(split, bad[0])}",
            "no system can be right on all of them",
            "correct the answers or drop the lines",
            split.file,
            split.line(bad[0][0]),
            {
                "questions": len(bad),
                "lines": [[split.line(p) for p in indices] for indices in bad[:_NAMED]],
                "texts": [split.queried(indices[0]) for indices in bad[:_NAMED]],
            },
        )
    ]


def _repeated(split: Split, letters: list[list[int]], words: list[list[int]]) -> list[Finding]:
    findings = []
    repeated = [indices for indices in words if len({split.groups[index] for index in indices}) > 1]
    if repeated:
        findings.append(
            Finding(
                Severity.WARNING,
                "duplicates-in-other-groups",
                f"{count_noun(len(repeated), 'question occurs', 'questions occur')} "
                f"in several groups, first on lines {_lines(split, repeated[0])}",
                "an answer counts more than once, intervals are too narrow, and public and private parts may share "
                "questions",
                "drop the duplicates, or put them into one group",
                split.file,
                split.line(repeated[0][0]),
                {
                    "questions": len(repeated),
                    "lines": [[split.line(p) for p in indices] for indices in repeated[:_NAMED]],
                    "texts": [split.queried(indices[0]) for indices in repeated[:_NAMED]],
                },
            )
        )
    within = len(letters) - sum(len({split.groups[index] for index in indices}) > 1 for indices in letters)
    if within:
        findings.append(
            Finding(
                Severity.NOTE,
                "duplicates-in-groups",
                f"{within} questions occur more than once in their group",
                "an answer counts more than once",
                "drop the duplicates unless they are intended",
                split.file,
                numbers={"questions": within},
            )
        )
    return findings


def _near_duplicates(split: Split, threshold: float) -> tuple[dict[str, Any], list[Finding]]:
    pairs = near_pairs(split.texts, threshold=threshold)
    across_groups = [pair for pair in pairs.pairs if split.groups[pair.first] != split.groups[pair.second]]
    unlike = [pair for pair in across_groups if pair.jaccard < 1]
    counts = {"pairs": len(pairs.pairs), "in_other_groups": len(across_groups), "all_found": pairs.whole}
    if not unlike:
        return counts, []
    best = max(unlike, key=lambda pair: pair.jaccard)
    least = "" if pairs.whole else "at least "
    return counts, [
        Finding(
            Severity.WARNING,
            "near-duplicates",
            f"{least}{len(unlike)} pairs of texts in different groups are nearly the same, the nearest (Jaccard "
            f"{best.jaccard:.2f}) on lines {split.line(best.first)} and {split.line(best.second)}",
            "their answers are dependent, but count as independent",
            "read these texts; drop duplicates, or put their lines into one group",
            split.file,
            split.line(best.first),
            {
                **counts,
                "examples": [
                    [split.line(pair.first), split.line(pair.second), pair.jaccard]
                    for pair in sorted(unlike, key=lambda pair: -pair.jaccard)[:_NAMED]
                ],
                "texts": [
                    split.queried(pair.first) for pair in sorted(unlike, key=lambda pair: -pair.jaccard)[:_NAMED]
                ],
            },
        )
    ]


def _lines(split: Split, indices: list[int]) -> str:
    return ", ".join(str(split.line(index)) for index in indices[:_NAMED])
