"""What an audit's codes say to everybody: in words that quote no gold, whatever the finding itself quotes."""

from __future__ import annotations

CODES = {
    "duplicates-disagree": "the same question stands there with different answers",
    "duplicates-in-other-groups": "a question stands in several groups",
    "duplicates-in-groups": "a question stands in its group more than once",
    "near-duplicates": "texts in different groups are nearly the same",
    "leakage-simple": "public gold has lines of the split to the letter",
    "leakage-basic": "public gold has lines of the split in the same words",
    "leakage-thorough": "public gold has lines of the split in other words",
    "pairs-in-training": "subjects and objects stand together in public gold",
    "facts-in-training": "facts of the split stand in public gold",
    "one-label": "a slice has one label",
    "uneven-labels": "one label is most of a slice",
    "groups-in-training": "groups of the split stand in public gold",
    "ids-in-training": "ids of the split stand in public gold",
    "evidence-in-training": "evidence of the split stands in public gold",
    "unbalanced-origin": "an origin is not balanced though the whole is",
    "one-large-group": "one group has most of the lines",
    "groups-share-claims": "claims stand in more than one group",
    "few-groups": "slices have few groups",
    "wide-intervals": "slices will have wide intervals",
    "one-sided-words": "frequent words have nearly always one label",
    "trivial-system": "a system that does not solve the task scores above chance",
    "inputs-hold-gold": "the inputs hold fields of the gold",
    "inputs-without-gold": "inputs are not in the gold",
    "gold-without-inputs": "gold is not in the inputs",
    "inputs-differ": "inputs differ from what the server would write",
    "answer-filtered": "mentions are among the answers and filtered out as well",
    "answer-in-question": "questions have what they ask with among their answers",
    "date-without-date": "objects of date properties are no dates",
    "empty-claim": "a claim is empty",
    "empty-mention": "a mention is empty",
    "empty-part": "a part of a fact is empty",
    "evidence-missing": "claims that are supported or refuted name no evidence",
    "evidence-unasked": "claims without enough information have evidence",
    "evidence-without-page": "evidence has sentences without page or line",
    "fact-not-in-text": "objects of facts do not stand in their texts to the letter",
    "nameless-property": "properties have no name",
    "no-answers": "questions have no answers",
    "no-facts": "texts have no facts",
    "no-system": "some texts name no system though others do",
    "no-text": "lines have no text",
    "not-symmetric": "groups are not whole and symmetric, or texts alone tell labels",
    "offsets-cut-words": "offsets cut words",
    "offsets-inverted": "offsets end before they begin",
    "offsets-on-blank": "offsets mark blanks",
    "offsets-outside-passage": "offsets lie outside their passage",
    "offsets-outside-text": "offsets lie outside their text",
    "duplicates-rated-apart": "a text stands there with ratings far apart",
    "subject-not-in-text": "subjects do not stand in their texts",
    "one-rating": "all ratings are one",
    "passage-text": "passages differ from their documents' texts",
    "questions-answer-each-other": "questions under different groups answer each other",
    "rare-relation": "relations are rare",
    "relation-not-in-training": "relations are not in public gold",
    "repeated-fact": "facts stand in their passage twice",
    "repeated-mention": "mentions are repeated",
    "subject-is-object": "triples have one entity as subject and as object",
    "text-at-offsets": "offsets mark another text than is said",
    "turned-round": "false triples are true the other way round",
    "unknown-property": "facts have properties that their passages are not annotated for",
}
TELLS = {"order": "the order of lines", "ids": "the ids", "column": "a column", "text": "how a text looks"}


def told(code: str) -> str:
    """A finding's code in words that quote no gold; empty for one that has none."""
    kind, _, rest = code.partition("-")
    if kind in TELLS and rest.startswith("tell"):
        return f"{TELLS[kind]} may tell something that is hidden"
    return CODES.get(code, "")
