"""Line formats of link-prediction files (Broscheit et al. 2020)."""

import msgspec

from evaluator.jsonl.ids import GoldLine
from evaluator.tasks.items.files import format_of

QUERY_MARKER = "?"
MAX_RANKED = 1000
"""The maximum number of mentions in a ranking."""

Triple = tuple[str, str, str]
"""Subject, relation, object. In a question either the subject or the object is QUERY_MARKER."""


class GoldQuestion(GoldLine, gc=False, kw_only=True):
    """A gold line: a triple without its subject or object, and the answers.

    answers: every mention of the entity asked for. filtered: mentions of the other known answers.
    """

    id: str | int
    question: Triple
    answers: list[str]
    filtered: list[str]


class Question(msgspec.Struct, gc=False):
    """A line of the public inputs: a triple without its subject or object."""

    id: str | int
    question: Triple


class Ranking(msgspec.Struct, gc=False):
    """A line of predictions: the answer to one question, as mentions, best first."""

    id: str | int
    ranking: list[str]


GOLD, INPUTS, PREDICTIONS = format_of(GoldQuestion), format_of(Question), format_of(Ranking)


def side(question: Triple) -> str | None:
    """Return the part of the question that is missing: head (subject) or tail (object).

    None: neither is missing, or both are.
    """
    if (question[0] == QUERY_MARKER) == (question[2] == QUERY_MARKER):
        return None
    return "head" if question[0] == QUERY_MARKER else "tail"
