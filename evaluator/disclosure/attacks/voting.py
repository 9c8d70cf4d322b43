"""Attacks that learn a little from each answer about many labels at once: they vote, flip and climb."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from evaluator.disclosure.attacks.fitting import elected
from evaluator.disclosure.attacks.target import Answer, Ask, Guess, Items, Key, Known
from evaluator.disclosure.policy import Kind
from evaluator.outcomes.table import Numbers


def boosting(ask: Ask, k: int, random: np.random.Generator, known: Known) -> Guess:
    """Vote over random files, weighted by their shown score; files without a shown score do not count."""
    votes = np.zeros(known.n)
    for _ in range(k - 1):
        labels, answer, expected = _asked_at_random(ask, random, known)
        value = _shown(answer, known, ())
        if value is not None:
            votes += (2 * labels - 1) * (value - expected)
    return _said(ask, known, elected(votes, random))


def boosting_by_slice(ask: Ask, k: int, random: np.random.Generator, known: Known) -> Guess:
    """Do the same with a separate vote in each slice: a file may be good in one and bad in another.

    Answers that do not show slices count with their overall score.
    """
    votes = np.zeros(known.n)
    for _ in range(k - 1):
        labels, answer, expected = _asked_at_random(ask, random, known)
        signs = 2 * labels - 1
        for key, items in _shown_parts(answer, known).items():
            value = _shown(answer, known, key)
            if value is not None:
                votes[items] += signs[items] * (value - expected)
    return _said(ask, known, elected(votes, random))


def block_flip(ask: Ask, k: int, random: np.random.Generator, known: Known) -> Guess:
    """Flip one block of a random file after the other, and keep the flips that improve it."""
    labels = random.integers(0, 2, known.n).astype(np.float64)
    best = _primary(ask(known.style.file(labels)), known)
    for begin, end in pairwise(np.linspace(0, known.n, k).astype(int).tolist()):
        flipped = labels.copy()
        flipped[begin:end] = 1 - flipped[begin:end]
        value = _primary(ask(known.style.file(flipped)), known)
        if value > best:
            labels, best = flipped, value
    return labels


def climbing(ask: Ask, k: int, random: np.random.Generator, known: Known, share: float = 0.2) -> Guess:
    """Flip a random share of the best file so far, and keep improvements.

    Small shares work best against full disclosure, large ones against a ladder, whose step is two standard errors.
    """
    labels = random.integers(0, 2, known.n).astype(np.float64)
    best = _primary(ask(known.style.file(labels)), known)
    for _ in range(k - 1):
        flipped = labels.copy()
        chosen = random.choice(known.n, size=max(1, int(share * known.n)), replace=False)
        flipped[chosen] = 1 - flipped[chosen]
        value = _primary(ask(known.style.file(flipped)), known)
        if value > best:
            labels, best = flipped, value
    return labels


def small_steps(ask: Ask, k: int, random: np.random.Generator, known: Known) -> Guess:
    """Climb by three labels at a time."""
    return climbing(ask, k, random, known, share=3 / known.n)


def abstention(ask: Ask, k: int, random: np.random.Generator, known: Known) -> Guess:
    """Begin with a file that says nothing, and say more labels at random each time, so that a ladder shows each answer.

    A file that says nothing leaves a ladder all its steps. Each further file says enough labels for one step more, anew
    and at random, and so many in each slice that its level is even odds: a vote on these labels. When all labels are
    said, the votes' own labels pay for the last steps.
    """
    parts = known.parts or {(): np.arange(known.n)}
    nothing = np.full(known.n, known.style.rest)
    step = 1 / math.sqrt(known.n_groups)
    best: float = _primary(ask(nothing), known)
    votes = np.zeros(known.n)
    said = dict.fromkeys(parts, 0)
    at_random, failed, shown = 1.0, 0, 0
    if math.isinf(best):
        return _said(ask, known, elected(votes, random))
    for asked in range(1, k - 1):
        left = (known.policy.detailed_answers or 0) - shown
        growth = max(step, (0.5 - best) / (left if left > 0 else k - 1 - asked)) * (1 + failed / 2)
        if not _say_more(said, 2 * known.n * (best + growth), known):
            at_random -= 0.15
            if at_random <= 0:
                break
        chosen = np.zeros(known.n, dtype=np.bool_)
        for key, items in parts.items():
            chosen[random.choice(items, said[key], replace=False)] = True
        is_random = chosen & (random.random(known.n) < at_random)
        labels = np.where(is_random, random.integers(0, 2, known.n), elected(votes, random))
        answer = ask(np.where(chosen, known.style.file(labels), nothing))
        if (known.style.primary, ()) not in answer:
            failed += 1
            continue
        failed, best, shown = 0, _primary(answer, known), shown + 1
        signs = np.where(is_random, 2 * labels - 1, 0.0)
        for key, items in _shown_parts(answer, known).items():
            value = _shown(answer, known, key)
            if value is not None:
                n_said = int(chosen[items].sum())
                votes[items] += signs[items] * (value * len(items) - n_said / 2) / math.sqrt(max(n_said, 1))
    return _said(ask, known, elected(votes, random))


def drifting(ask: Ask, k: int, random: np.random.Generator, known: Known, share: float = 0.5) -> Guess:
    """Vote over files that say what the votes say so far, except for a random share of the labels.

    That a ladder shows no score of a file is a vote against it.
    """
    votes = np.zeros(known.n)
    n_shown = 0
    for asked in range(1, k):
        is_random = random.random(known.n) < share
        labels = np.where(is_random, random.integers(0, 2, known.n), elected(votes, random))
        answer = ask(known.style.file(labels))
        is_shown = (known.style.primary, ()) in answer
        n_shown += is_shown
        signs = np.where(is_random, 2 * labels - 1, 0.0)
        votes += signs * (is_shown - n_shown / asked)
        for key, items in known.parts.items():
            value = _shown(answer, known, key)
            if value is not None:
                votes[items] += signs[items] * (value - 0.5) * 2 * math.sqrt(known.n_groups_of(key))
    return _said(ask, known, elected(votes, random))


def _say_more(said: dict[Key, int], n_labels: float, known: Known) -> bool:
    """Raise the numbers of labels said in slices until they are `n_labels` together; False if there are not so many.

    Where fewest are said, more are first.
    """
    parts = known.parts or {(): np.arange(known.n)}
    while sum(said.values()) < n_labels:
        left = [key for key in parts if said[key] < len(parts[key])]
        if not left:
            return False
        key = min(left, key=lambda key: said[key] / len(parts[key]))
        m = len(parts[key])
        level = m / math.sqrt(known.n_groups_of(key))
        # The middle of the possible numbers of right labels is just below a level.
        said[key] = min(m, math.ceil(2 * level * (math.floor((said[key] + 1) / (2 * level)) + 1)) - 1)
    return True


def _asked_at_random(ask: Ask, random: np.random.Generator, known: Known) -> tuple[Numbers, Answer, float]:
    """Send a random file and return (labels that it says, answer, expected value)."""
    labels = random.integers(0, 2, known.n).astype(np.float64)
    file = known.style.file(labels)
    return labels, ask(file), known.style.expected(file)


def _said(ask: Ask, known: Known, labels: Numbers) -> Guess:
    ask(known.style.file(labels))
    return labels


def _primary(answer: Answer, known: Known) -> float:
    """Return the shown overall value of the primary measure; minus infinity: none."""
    row = answer.get((known.style.primary, ()))
    return -math.inf if row is None or row["value"] is None else float(row["value"])


def _shown_parts(answer: Answer, known: Known) -> Mapping[Key, Items]:
    """Return slice -> its labels of slices that share no labels and are shown in an answer; if there are none, all."""
    shown = {key: items for key, items in known.parts.items() if (known.style.primary, key) in answer}
    return shown or {(): np.arange(known.n)}


def _shown(answer: Answer, known: Known, key: Key) -> float | None:
    """Return the value of the primary measure that a shown one probably stands for; None: none is shown.

    On a ladder it is half a step above.
    """
    row = answer.get((known.style.primary, key))
    if row is None or row["value"] is None:
        return None
    middle = 0.5 / math.sqrt(known.n_groups_of(key)) if known.policy.kind == Kind.LADDER else 0.0
    return float(row["value"]) + middle
