"""Leakage exactly as in its protocol: each training triple against each evaluation triple and all its mentions."""

from __future__ import annotations

from collections import Counter
from typing import Any


def normalised(text: str, stops: set[str]) -> set[str]:
    tokens = text.lower().split()
    content_words = [token for token in tokens if token not in stops]
    return set(content_words) if content_words else set(tokens)


def most_frequent(triples: list[Any], n: int = 25) -> set[str]:
    stops: set[str] = set()
    for texts in ([t[0] for t in triples] + [t[2] for t in triples], [t[1] for t in triples]):
        counts = Counter(token for text in texts for token in text.lower().split())
        stops |= set(sorted(counts, key=lambda token: (-counts[token], token))[:n])
    return stops


def leaks(triple: Any, evaluated: list[Any], level: str, stops: set[str]) -> bool:
    """evaluated: (i, k, j, M(i), M(j)), where M may or may not include the mention itself."""
    subject, relation, object_ = (normalised(text, stops) for text in triple[:3])
    for i, k, j, ms_i, ms_j in evaluated:
        if tuple(triple[:3]) == (i, k, j):
            return True
        if level == "SIMPLE":
            continue
        link = normalised(k, stops)
        for a in (normalised(mention, stops) for mention in {i, *ms_i}):
            for b in (normalised(mention, stops) for mention in {j, *ms_j}):
                if relation == link and ((subject, object_) == (a, b) or (subject, object_) == (b, a)):
                    return True
                if level == "BASIC":
                    continue
                if (subject, object_) == (a, b) or (subject, object_) == (b, a):
                    return True
                if subject == a and relation >= link | b:
                    return True
                if object_ == b and relation >= link | a:
                    return True
                if subject >= a | link | b or object_ >= a | link | b:
                    return True
    return False
