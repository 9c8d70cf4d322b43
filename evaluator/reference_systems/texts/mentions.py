"""Mentions: the spans of a text that may be the subject or the object of a fact.

They are dates, pronouns, names and nouns that occur as mentions in training texts, and runs of capitalised words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from evaluator.curation.corruption.dates import MONTHS

DATE, NAME, NOUN, PERSONAL, RELATIVE = "date", "name", "noun", "personal", "relative"
"""Kinds of mentions. NOUN: a mention of training texts that begins with a small letter, such as `the company`."""
# fmt: off
_PERSONAL = frozenset((
    "i", "me", "my", "mine", "we", "us", "our", "ours", "you", "your", "he", "him", "his", "she",
    "her", "hers", "it", "its", "they", "them", "their", "theirs", "himself", "herself", "myself",
))
# fmt: on
_RELATIVE = frozenset(["who", "whom", "whose", "which", "where", "that"])
_MONTH = "|".join(f"{name}|{name[:3]}\\.?" for name in MONTHS)
_DATE = re.compile(
    rf"(?<!\w)(?:(?:[0-9]{{1,2}}(?:st|nd|rd|th)?(?: of)? )?(?:{_MONTH})(?: [0-9]{{1,2}}(?:st|nd|rd|th)?)?,? [0-9]{{4}}"
    rf"|[0-9]{{1,2}}(?:st|nd|rd|th)? (?:{_MONTH})|(?:{_MONTH}) [0-9]{{1,2}}(?:st|nd|rd|th)?"
    r"|[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4}|[0-9]{4})(?![\w])"
)
_WORD = re.compile(r"[^\W\d_](?:[\w\u0300-\u036f&]|['\u2019.-](?=\w))*\.?|\w+|[^\w\s]")
_ABBREVIATION = re.compile(r"(?:[^\W\d_]\.)+|(?:Dr|Mr|Mrs|Ms|St|Inc|Jr|Sr|Co|Ltd|Corp|Prof|Gen|Col|Lt|Sen|Rep|Rev)\.")
_INSIDE = frozenset(
    {"of", "the", "at", "de", "da", "do", "di", "du", "von", "van", "der", "la", "le", "el", "&", "for"}
)
_MAX_WORDS = 12
"""The maximum number of words of a mention that is found by its spelling, or taken from training texts."""


class Token(NamedTuple):
    """A word or a punctuation mark. start, end: offsets in the text, in code points."""

    text: str
    start: int
    end: int


class Mention(NamedTuple):
    """A span of a text that may be the subject or the object of a fact.

    first, last: the index of its first token, and the index after its last token. kind: DATE, NAME...
    """

    first: int
    last: int
    kind: str


def tokenize(text: str) -> list[Token]:
    """Return the words and punctuation marks of a text.

    A possessive `'s` is a token of its own, and so is a full stop, unless it belongs to an initial or an abbreviation.
    """
    tokens = []
    for match in _WORD.finditer(text):
        word, start, end = match[0], match.start(), match.end()
        cut = len(word)
        if len(word) > 1 and word.endswith(".") and not _ABBREVIATION.fullmatch(word):
            cut -= 1
        elif len(word) > 2 and word.endswith(("'s", "\u2019s")):
            cut -= 2
        tokens.append(Token(word[:cut], start, start + cut))
        if cut < len(word):
            tokens.append(Token(word[cut:], start + cut, end))
    return tokens


class MentionFinder:
    """Finds mentions in a text; its list of names and nouns comes from training texts.

    A word sequence is in the list if it is a mention in at least a certain share of the training texts in which it
    occurs.
    """

    def __init__(self, known: Collection[tuple[str, ...]] = ()) -> None:
        """Build the finder from its list of names and nouns. known: the word sequences of the list, casefolded."""
        self._by_first: dict[str, list[tuple[str, ...]]] = {}
        for words in sorted(known, key=lambda words: (-len(words), words)):
            self._by_first.setdefault(words[0], []).append(words)

    @classmethod
    def trained(
        cls,
        texts: Sequence[tuple[Sequence[Token], Collection[tuple[int, int]]]],
        share: float,
    ) -> MentionFinder:
        """Return a finder whose list comes from these texts.

        texts: (tokens, token ranges of the mentions) of each text. share: a word sequence is in the list if it is a
        mention in at least this share of the texts in which it occurs.
        """
        marked: Counter[tuple[str, ...]] = Counter()
        for tokens, spans in texts:
            marked.update({words for first, last in spans if (words := _folded(tokens[first:last]))})
        lengths: dict[str, set[int]] = {}
        for words in marked:
            lengths.setdefault(words[0], set()).add(len(words))
        occurrences: Counter[tuple[str, ...]] = Counter()
        for tokens, _ in texts:
            folded = _folded(tokens)
            occurrences.update(
                {
                    folded[index : index + length]
                    for index, word in enumerate(folded)
                    for length in lengths.get(word, ())
                }
            )
        known = {
            words
            for words, count in marked.items()
            if len(words) <= _MAX_WORDS and count >= share * occurrences[words] and any(map(str.isalnum, words))
        }
        return cls(known)

    def find(self, text: str, tokens: Sequence[Token]) -> list[Mention]:
        """Return the mentions of a text in the order of the text, without overlaps.

        Of overlapping spans, a date is preferred to a listed name or noun, and both to pronouns and capitalised words.
        """
        taken = [False] * len(tokens)
        mentions: list[Mention] = []

        def take(first: int, last: int, kind: str) -> None:
            if first < last and not any(taken[first:last]):
                taken[first:last] = [True] * (last - first)
                mentions.append(Mention(first, last, kind))

        for first, last in _date_ranges(text, tokens):
            take(first, last, DATE)
        runs = capitalised(tokens)
        for index, last, kind in self._listed(tokens):
            # A listed word inside a longer name, such as London in London School of Economics, is no mention.
            if not any(first <= index and last <= end and (first, end) != (index, last) for first, end in runs):
                take(index, last, kind)
        for index, token in enumerate(tokens):
            folded = token.text.casefold()
            if folded in _PERSONAL and (folded, token.text) != ("us", "US"):
                take(index, index + 1, PERSONAL)
            elif folded in _RELATIVE:
                take(index, index + 1, RELATIVE)
        for first, last in runs:
            start = first
            for index in range(first, last + 1):  # what is left of the run between mentions that are taken
                if index == last or taken[index]:
                    take(start, index, NAME)
                    start = index + 1
        return sorted(mentions)

    def _listed(self, tokens: Sequence[Token]) -> Iterable[tuple[int, int, str]]:
        folded = _folded(tokens)
        for index, word in enumerate(folded):
            for words in self._by_first.get(word, ()):
                if folded[index : index + len(words)] == words:
                    text = tokens[index].text
                    if len(words) > 1 or (word not in _PERSONAL and word not in _RELATIVE):
                        yield index, index + len(words), NAME if text[0].isupper() else NOUN
                    break


def capitalised(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Return the token ranges of names: runs of capitalised words, which may have words such as `of` inside."""
    runs: list[tuple[int, int]] = []
    for index, token in enumerate(tokens):
        first = token.text[0]
        if first.lower() == first != first.upper() or not first.isalpha():
            continue  # words of scripts without capitals count as capitalised
        folded = token.text.casefold()
        if (folded in _PERSONAL or folded in _RELATIVE or folded in _INSIDE) and (
            folded == "i" or not token.text.isupper()
        ):
            continue
        if runs and runs[-1][1] <= index and index - runs[-1][0] < _MAX_WORDS:
            between = tokens[runs[-1][1] : index]
            if len(between) <= 2 and all(word.text in _INSIDE for word in between):
                runs[-1] = (runs[-1][0], index + 1)
                continue
        runs.append((index, index + 1))
    return runs


def main_name(names: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the name that contains the largest number of these names, such as a full name; of several, the first.

    names: the words of each name, in the order of the text. Without names, the result is empty.
    """
    counts = Counter(tuple(word.casefold() for word in name) for name in names)
    best: tuple[str, ...] = ()
    most = 0
    for name in dict.fromkeys(names):
        words = {word.casefold() for word in name}
        count = sum(count for other, count in counts.items() if words.issuperset(other))
        if count > most:
            best, most = name, count
    return best


def _date_ranges(text: str, tokens: Sequence[Token]) -> Iterable[tuple[int, int]]:
    starts = {token.start: index for index, token in enumerate(tokens)}
    ends = {token.end: index + 1 for index, token in enumerate(tokens)}
    for match in _DATE.finditer(text):
        first, last = starts.get(match.start()), ends.get(match.end())
        if first is not None and last is not None:
            yield first, last


def _folded(tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple(token.text.casefold() for token in tokens)
