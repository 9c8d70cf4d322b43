"""Parsed gold of link-prediction."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from evaluator.jsonl.ids import format_ids
from evaluator.tasks.items.files import Fault, ItemGold
from evaluator.tasks.link_prediction.layout import GoldQuestion, Question, Triple, side

Mentions = tuple[str, ...]

_NO_MARKER = (
    'question does not have "?" as one of subject and object',
    "another triple",
    '["...", "...", "?"] or ["?", "...", "..."]',
)


@dataclass
class Gold(ItemGold):
    """Parsed gold. The lists have one entry per question, in the order of the file; `lines` is empty.

    mentions: (the answers, mentions of other known answers).
    """

    questions: list[Triple] = field(default_factory=list)
    mentions: list[tuple[Mentions, Mentions]] = field(default_factory=list)
    _texts: dict[str, str] = field(default_factory=dict)  # one copy of each mention

    def problems(self, line: GoldQuestion) -> Iterable[Fault]:
        return (_NO_MARKER,) if side(line.question) is None else ()

    def extend(self, lines: Sequence[GoldQuestion]) -> None:
        self.questions.extend(line.question for line in lines)
        self.mentions.extend((self._shared(line.answers), self._shared(line.filtered)) for line in lines)

    def _shared(self, mentions: list[str]) -> Mentions:
        return tuple([self._texts.setdefault(mention, mention) for mention in mentions])

    def finish(self, file: str) -> list[str]:
        """Return a warning about questions without answers, which no system can answer."""
        self._texts.clear()
        unanswerable = [value for value, (answers, _) in zip(self.ids, self.mentions, strict=True) if not answers]
        if not unanswerable:
            return []
        return [f"{file}: questions without answers, which no system can answer: {format_ids(unanswerable)}"]

    def inputs(self, record: type[Question]) -> Iterable[Question]:
        return (record(value, question) for value, question in zip(self.ids, self.questions, strict=True))
