"""What a training file tells of a test split, at three levels: to the letter, in the same words, in other words.

Questions with texts are compared as texts; questions about triples by the rules of leakage removal (`leakage`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from evaluator.curation.audit.duplicates import as_words
from evaluator.curation.audit.findings import Finding, Severity, percent
from evaluator.curation.audit.near import near_pairs
from evaluator.curation.audit.split import Split
from evaluator.curation.leakage import Leakage, Level
from evaluator.curation.open_triples import OpenTriple
from evaluator.curation.open_words import Normaliser, TokenCounts
from evaluator.identifiers import listed
from evaluator.tasks.link_prediction.layout import ASKED

ABOUT_TRIPLES = frozenset({"fact-checking", "link-prediction"})
LEVELS = ("simple", "basic", "thorough")
_NAMED = 10
_HOW = {
    "simple": "to the letter",
    "basic": "in the same words (case, punctuation, or the ends of a triple turned round)",
    "thorough": "in other words",
}


def overlap(split: Split, train: Split, *, threshold: float) -> tuple[dict[str, Any], list[Finding]]:
    """Counts at each level, the lower ones counted in; `lines` of the split where texts are compared, of the training
    file where triples are, as in leakage removal. threshold: of near duplicates, the third level of texts."""
    told: dict[str, Any] = {"train": train.name, "training_lines": len(train), "lines": len(split)}
    if split.task.name in ABOUT_TRIPLES:
        pairs, more = _pairs(split, train)
        places = _by_triples(split, train)
        told |= {"counted": "training lines", **pairs}
        counted = train
    else:
        more = []
        places = dict(_by_texts(split, train, threshold))
        told["counted"] = "lines of the split"
        counted = split
    told |= {name: sum(at <= level for at in places.values()) for level, name in enumerate(LEVELS)}
    findings = []
    for level, name in enumerate(LEVELS):
        found = sorted(place for place, at in places.items() if at == level)
        if found:
            findings.append(_finding(split, train, counted, name, found))
    facts, note = _facts(split, train)
    return told | facts, [*findings, *more, *note, *_strange_relations(split, train)]


def _by_texts(split: Split, train: Split, threshold: float) -> Iterable[tuple[int, int]]:
    """(place in the split, level)."""
    letters = {*train.questions}
    words = {as_words(question) for question in train.questions}
    both = split.texts and train.texts
    alike = {pair.first for pair in near_pairs(split.texts, train.texts, threshold=threshold).found} if both else set()
    claims = {*_claims(train)}
    for place, (question, claim) in enumerate(zip(split.questions, _claims(split), strict=True)):
        if question is None:
            continue
        if question in letters:
            yield place, 0
        elif as_words(question) in words:
            yield place, 1
        elif place in alike or (claim is not None and claim in claims):
            yield place, 2


def _claims(split: Split) -> list[Hashable]:
    """Where a line is a claim with a sentence, the claim's words: alone they tell of the other sentence's label."""
    if split.task.name != "fact-verification":
        return [None] * len(split)
    return [as_words(claim) for claim in split.gold.claims]


def _by_triples(split: Split, train: Split) -> dict[int, int]:
    """Place in the training file: level."""
    rows = [(place, triple) for place, some in enumerate(train.triples) for triple in some]
    counts = TokenCounts()
    counts.add([triple for _, triple in rows])
    leakage = Leakage(_evaluated(split), Normaliser(counts.stop_words().all))
    rules = leakage.rules([triple for _, triple in rows])
    found: dict[int, int] = {}
    for (place, _), rule in zip(rows, rules, strict=True):
        if rule:
            level = 0 if rule <= Level.SIMPLE else 1 if rule <= Level.BASIC else 2
            found[place] = min(level, found.get(place, level))
    return found


def _evaluated(split: Split) -> Iterable[OpenTriple]:
    if split.task.name == "fact-checking":
        return [OpenTriple(*triple) for some in split.triples for triple in some]
    made = []
    for (head, relation, tail), (answers, _) in zip(split.gold.questions, split.gold.mentions, strict=True):
        for answer in answers:
            if head == ASKED:
                made.append(OpenTriple(answer, relation, tail, answers, ()))
            else:
                made.append(OpenTriple(head, relation, answer, (), answers))
    return made


def _pairs(split: Split, train: Split) -> tuple[dict[str, Any], list[Finding]]:
    """Lines of the split whose subject and object stand together in training, under any relation."""
    known = {(s, o) for some in train.triples for s, _, o in some}
    found = [place for place, some in enumerate(split.triples) if any((s, o) in known for s, _, o in some)]
    told = {"pairs_in_training": len(found)}
    if not found:
        return told, []
    return told, [
        Finding(
            Severity.ERROR if split.task.name == "fact-checking" else Severity.WARNING,
            "pairs-in-training",
            f"{len(found)} of {len(split)} lines ({percent(len(found) / len(split))}) ask about a subject and an "
            f"object that stand together in {train.name}",
            "their answers can be looked up",
            "draw the training part apart from the test part (split scenarios --apart-from, split leakage)",
            split.file,
            split.line(found[0]),
            {
                "train": train.name,
                "count": len(found),
                "lines": [split.line(place) for place in found[:_NAMED]],
                "texts": [split.asked(place) for place in found[:_NAMED]],
            },
        )
    ]


def _finding(split: Split, train: Split, counted: Split, level: str, found: list[int]) -> Finding:
    whose = f"lines of {train.name} say a line of the split" if counted is train else f"lines are told by {train.name}"
    return Finding(
        Severity.ERROR if level == "simple" else Severity.WARNING,
        f"leakage-{level}",
        f"{len(found)} {whose} {_HOW[level]}, the first on line {counted.line(found[0])}",
        "a system that has seen the training file can remember instead of solving the task",
        "take these lines out of the training file, or out of the split",
        counted.file,
        counted.line(found[0]),
        {
            "train": train.name,
            "level": level,
            "count": len(found),
            "of": len(counted),
            "lines": [counted.line(place) for place in found[:_NAMED]],
            "texts": [counted.asked(place) for place in found[:_NAMED]],
        },
    )


def _strange_relations(split: Split, train: Split) -> list[Finding]:
    known = {relation for some in train.triples for _, relation, _ in some}
    strange = [
        (place, relation)
        for place, some in enumerate(split.triples)
        for relation in dict.fromkeys(relation for _, relation, _ in some)
        if relation not in known
    ]
    if not known or not strange:
        return []
    names = sorted({relation for _, relation in strange})
    return [
        Finding(
            Severity.WARNING,
            "relation-not-in-training",
            f"{len(names)} relations are not in {train.name}, on {len(strange)} lines: {listed(names)}",
            "nothing can be learnt of them; a name may be misspelt",
            "check the names, or say that relations are new",
            split.file,
            split.line(strange[0][0]),
            {"train": train.name, "relations": names[:_NAMED], "lines": len(strange)},
        )
    ]


def _facts(split: Split, train: Split) -> tuple[dict[str, Any], list[Finding]]:
    """For tasks that read facts out of texts: those that training texts state too."""
    if not split.triples or split.task.name in ABOUT_TRIPLES:
        return {}, []
    facts = {fact for some in split.triples for fact in some}
    known = facts & {fact for some in train.triples for fact in some}
    told = {"facts": len(facts), "facts_in_training": len(known)}
    if not known:
        return told, []
    return told, [
        Finding(
            Severity.NOTE,
            "facts-in-training",
            f"{len(known)} of {len(facts)} different facts ({percent(len(known) / len(facts))}) stand in {train.name}",
            "they can be known without reading the text; other texts may well state the same facts",
            "show a slice of facts that training does not have",
            split.file,
            numbers={"train": train.name, **told},
        )
    ]
