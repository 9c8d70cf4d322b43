"""Features of an ordered pair of mentions: the words between and around them, their own words and kinds.

A feature is a string; `Vocabulary` numbers the features of training pairs.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from evaluator.reference_systems.texts.mentions import DATE, NAME, PERSONAL, Mention, Token

_MOST_BETWEEN = 40
"""The maximum number of tokens between two mentions whose words are features."""
_WHOLE_PATH = 6
_DISTANCES = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55)
_DIGIT = re.compile(r"\d")


class TextFeatures:
    """Features of a text's pairs of mentions. Parts that several pairs share are computed once."""

    def __init__(self, tokens: Sequence[Token], mentions: Sequence[Mention], pronoun_name: Sequence[str] = ()) -> None:
        """Compute the parts that all pairs of the text share.

        tokens, mentions: those of the text. pronoun_name: the words of the name for which personal pronouns stand;
        empty: the name is unknown.
        """
        self.mentions = mentions
        self._name = [_DIGIT.sub("0", word.casefold()) for word in pronoun_name]
        self._words = [_DIGIT.sub("0", token.text.casefold()) for token in tokens]
        # In the path between two mentions, any other mention is replaced by its kind.
        self._inside: list[str | None] = list(self._words)
        for mention in mentions:
            if mention.kind in (NAME, DATE):
                self._inside[mention.first : mention.last] = [None] * (mention.last - mention.first)
                self._inside[mention.first] = f"<{mention.kind}>"
        own = [self._of_mention(mention) for mention in mentions]
        self._own_as_subject = [[f"s {name}" for name in names] for names in own]
        self._own_as_object = [[f"o {name}" for name in names] for names in own]
        self._bag = [f"bag {word}" for word in dict.fromkeys(self._words)]

    def _of_mention(self, mention: Mention) -> list[str]:
        words = self._words[mention.first : mention.last]
        features = [f"kind {mention.kind}", f"text {' '.join(words)}", f"last {words[-1]}", f"first {words[0]}"]
        features += [f"has {word}" for word in dict.fromkeys(words)]
        features.append(f"length {min(len(words), 4)} {mention.kind}")
        padded = ["<s>", "<s>", *self._words, "</s>", "</s>"]
        before, after = padded[mention.first : mention.first + 2], padded[mention.last + 2 : mention.last + 4]
        if mention.kind == PERSONAL:
            features += [f"name {word}" for word in dict.fromkeys(self._name)]
        features += [
            f"before {before[1]}",
            f"before {' '.join(before)}",
            f"after {after[0]}",
            f"after {' '.join(after)}",
        ]
        return features

    def of_pair(self, subject: int, object_: int) -> Iterator[str]:
        """Yield the features of a pair of mentions. subject, object_: the indices of the two mentions."""
        mentions = self.mentions
        left, right = (subject, object_) if subject < object_ else (object_, subject)
        order = ">" if subject < object_ else "<"
        kinds = f"{mentions[subject].kind}{order}{mentions[object_].kind}"
        yield kinds
        yield from self._own_as_subject[subject]
        yield from self._own_as_object[object_]
        start, end = mentions[left].last, mentions[right].first
        distance = sum(end - start > limit for limit in _DISTANCES)
        yield f"distance {order}{distance}"
        yield f"distance {kinds}{distance}"
        yield f"others {order}{min(right - left - 1, 5)}"
        outside = [*self._words[:start][-6:], "|", *self._words[end:][:6]]
        for word in dict.fromkeys(outside):
            yield f"near {word}"
        yield from self._bag
        if end - start > _MOST_BETWEEN:
            yield f"far {kinds}"
            return
        path = [word for word in self._inside[start:end] if word is not None]
        for word in dict.fromkeys(path):
            yield f"{order} {word}"
            yield f"{kinds} {word}"
        for pair in dict.fromkeys(pairwise(path)):
            yield f"{order} {pair[0]} {pair[1]}"
        for triple in dict.fromkeys(zip(path, path[1:], path[2:], strict=False)):
            yield f"{order} {triple[0]} {triple[1]} {triple[2]}"
        yield f"{order}first {' '.join(path[:2])}"
        yield f"{order}last {' '.join(path[-2:])}"
        if len(path) <= _WHOLE_PATH:
            yield f"path {kinds} {' '.join(path)}"
            if subject < object_:
                yield f"path after {' '.join(path)} {' '.join(self._words[mentions[right].last :][:1])}"


class Vocabulary:
    """The features that occur in at least `least` training pairs, with their numbers; all others are ignored."""

    def __init__(self, pairs: Iterable[Iterable[str]], least: int) -> None:
        counts: Counter[str] = Counter()
        for features in pairs:
            counts.update(features)
        self._number = {
            name: number for number, name in enumerate(name for name, count in counts.items() if count >= least)
        }

    def matrix(self, pairs: Iterable[Iterable[str]]) -> Any:
        """Return a sparse binary matrix of shape (pairs, features): 1 where the pair has the feature."""
        from scipy.sparse import csr_matrix

        indices, ends = array("i"), array("q", [0])
        for features in pairs:
            indices.extend(sorted({number for name in features if (number := self._number.get(name)) is not None}))
            ends.append(len(indices))
        columns = np.frombuffer(indices, dtype=np.int32) if indices else np.zeros(0, dtype=np.int32)
        shape = (len(ends) - 1, len(self._number))
        return csr_matrix((np.ones(len(columns), dtype=np.float32), columns, np.frombuffer(ends, np.int64)), shape)
