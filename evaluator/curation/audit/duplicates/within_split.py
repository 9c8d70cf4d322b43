"""Items of a split that stand there twice: to the letter, as words, or nearly; and whether their answers agree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from typing import Any

from evaluator.curation.audit.duplicates.near_duplicates import near_pairs
from evaluator.tasks.audit.findings import Finding, Severity
from evaluator.tasks.audit.split import AnswerKind, Split, as_words
from evaluator.text import counted

_NAMED = 10


def duplicates(split: Split, *, threshold: float) -> tuple[dict[str, Any], list[Finding]]:
    """Exact ones by what is asked, letter by letter and as lower-cased words; near ones by `near.near_pairs`."""
    letters = _alike(list(split.questions))
    words = _alike([as_words(question) for question in split.questions])
    told: dict[str, Any] = {
        "exact": sum(len(places) - 1 for places in letters),
        "same_words": sum(len(places) - 1 for places in words),
        "near": None,
        "threshold": threshold,
    }
    findings = [*_contradictions(split, letters), *_repeated(split, letters, words)]
    if split.texts:
        told["near"], more = _near(split, threshold)
        findings += more
    return told, findings


def _alike(keys: list[Hashable]) -> list[list[int]]:
    """Places of two or more equal keys; None is equal to nothing."""
    places: dict[Hashable, list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        if key is not None:
            places[key].append(place)
    return [found for found in places.values() if len(found) > 1]


def _contradictions(split: Split, letters: list[list[int]]) -> list[Finding]:
    bad = [places for places in letters if len({split.answers[place] for place in places}) > 1]
    if not bad or split.answer_kind is AnswerKind.RATING:  # people may rate a text twice
        return []
    return [
        Finding(
            Severity.ERROR if split.answer_kind is AnswerKind.LABEL else Severity.WARNING,
            "duplicates-disagree",
            f"{counted(len(bad), 'question stands', 'questions stand')} "
            f"there with different answers, first on lines {_lines(split, bad[0])}",
            "no system can be right on all of them",
            "correct the answers or drop the lines",
            split.file,
            split.line(bad[0][0]),
            {
                "questions": len(bad),
                "lines": [[split.line(p) for p in places] for places in bad[:_NAMED]],
                "texts": [split.asked(places[0]) for places in bad[:_NAMED]],
            },
        )
    ]


def _repeated(split: Split, letters: list[list[int]], words: list[list[int]]) -> list[Finding]:
    findings = []
    apart = [places for places in words if len({split.groups[place] for place in places}) > 1]
    if apart:
        findings.append(
            Finding(
                Severity.WARNING,
                "duplicates-in-other-groups",
                f"{counted(len(apart), 'question stands', 'questions stand')} "
                f"in several groups, first on lines {_lines(split, apart[0])}",
                "an answer counts more than once, intervals come too narrow, and halves of the split share questions",
                "drop the repetitions, or give them one group",
                split.file,
                split.line(apart[0][0]),
                {
                    "questions": len(apart),
                    "lines": [[split.line(p) for p in places] for places in apart[:_NAMED]],
                    "texts": [split.asked(places[0]) for places in apart[:_NAMED]],
                },
            )
        )
    within = len(letters) - sum(len({split.groups[place] for place in places}) > 1 for places in letters)
    if within:
        findings.append(
            Finding(
                Severity.NOTE,
                "duplicates-in-groups",
                f"{within} questions stand in their group more than once",
                "an answer counts more than once",
                "drop the repetitions if they are not meant",
                split.file,
                numbers={"questions": within},
            )
        )
    return findings


def _near(split: Split, threshold: float) -> tuple[dict[str, Any], list[Finding]]:
    pairs = near_pairs(split.texts, threshold=threshold)
    apart = [pair for pair in pairs.found if split.groups[pair.first] != split.groups[pair.second]]
    unlike = [pair for pair in apart if pair.jaccard < 1]
    told = {"pairs": len(pairs.found), "in_other_groups": len(apart), "all_found": pairs.whole}
    if not unlike:
        return told, []
    best = max(unlike, key=lambda pair: pair.jaccard)
    least = "" if pairs.whole else "at least "
    return told, [
        Finding(
            Severity.WARNING,
            "near-duplicates",
            f"{least}{len(unlike)} pairs of texts in different groups are nearly the same, the nearest (Jaccard "
            f"{best.jaccard:.2f}) on lines {split.line(best.first)} and {split.line(best.second)}",
            "their answers hang together, but count as independent",
            "read them; drop repetitions or give them one group",
            split.file,
            split.line(best.first),
            {
                **told,
                "examples": [
                    [split.line(pair.first), split.line(pair.second), pair.jaccard]
                    for pair in sorted(unlike, key=lambda pair: -pair.jaccard)[:_NAMED]
                ],
                "texts": [split.asked(pair.first) for pair in sorted(unlike, key=lambda pair: -pair.jaccard)[:_NAMED]],
            },
        )
    ]


def _lines(split: Split, places: list[int]) -> str:
    return ", ".join(str(split.line(place)) for place in places[:_NAMED])
