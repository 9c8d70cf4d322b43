"""Mentions of small texts."""

import pytest

from evaluator.reference_systems.texts.mentions import MentionFinder, tokenize


def found(text: str, known: set[tuple[str, ...]] = frozenset()) -> list[tuple[str, str]]:
    tokens = tokenize(text)
    mentions = MentionFinder(known).find(text, tokens)
    return [(text[tokens[m.first].start : tokens[m.last - 1].end], m.kind) for m in mentions]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ada Berg's son was born in Chur.", [("Ada Berg", "name"), ("Chur", "name")]),
        ("It opened on 3 May 1901.", [("It", "personal"), ("3 May 1901", "date")]),
        ("In 1990 J. R. Moss, who left", [("1990", "date"), ("J. R. Moss", "name"), ("who", "relative")]),
        ("the University of Basel (UB)", [("University of Basel", "name"), ("UB", "name")]),
        ("she met us in the US", [("she", "personal"), ("us", "personal"), ("US", "name")]),
        ("он жил в Chur", [("Chur", "name")]),
        ("...", []),
        ("", []),
    ],
)
def test_mentions_by_spelling(text: str, expected: list[tuple[str, str]]) -> None:
    assert [mention for mention in found(text) if mention[0] != "In"] == expected


def test_listed_names_and_nouns() -> None:
    known = {("the", "company"), ("basel",), ("ada",)}
    assert found("the company left Basel", known) == [("the company", "noun"), ("Basel", "name")]
    # A listed name inside a longer one is part of it.
    assert found("the Basel Tigers", known) == [("Basel Tigers", "name")]


def test_a_sequence_is_listed_by_the_share_of_its_occurrences_that_are_mentions() -> None:
    texts = [(tokenize("the firm grew"), {(0, 2)}), (tokenize("the firm fell"), set())]
    line = "so the firm fell"
    finder = [MentionFinder.trained(texts, share).find(line, tokenize(line)) for share in (0.5, 0.6)]
    assert [len(mentions) for mentions in finder] == [1, 0]


def test_tokens_keep_their_offsets() -> None:
    text = "Dr. Ada Berg\u2019s e\u0301tude ended. U.S. 4.5"
    assert [text[token.start : token.end] for token in tokenize(text)] == [token.text for token in tokenize(text)]
    assert [token.text for token in tokenize(text)][:5] == ["Dr.", "Ada", "Berg", "\u2019s", "e\u0301tude"]
