"""Parsed gold of fact-extraction."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from evaluator.tasks.fact_extraction.layout import Fact, GoldText, InputText
from evaluator.tasks.items.files import ItemGold

Facts = frozenset[Fact]


@dataclass
class Gold(ItemGold):
    """Parsed gold. The lists have one entry per text, in the order of the file; `lines` is empty.

    texts: the lines of the public inputs. facts: the facts of each text. relations: relation -> its number, in
    alphabetical order.
    """

    facts: list[Facts] = field(default_factory=list)
    relations: dict[str, int] = field(default_factory=dict)
    texts: list[InputText] = field(default_factory=list)
    _strings: dict[str, str] = field(default_factory=dict)  # one copy of each

    def extend(self, lines: Sequence[GoldText]) -> None:
        self.facts.extend(self._shared(line.facts) for line in lines)
        self.texts.extend(InputText(line.id, line.text, line.subject) for line in lines)

    def _shared(self, facts: list[Fact]) -> Facts:
        intern = self._strings.setdefault
        return frozenset([(intern(s, s), intern(r, r), intern(o, o)) for s, r, o in facts])

    def inputs(self, record: type[InputText]) -> Iterable[InputText]:
        return self.texts

    def finish(self, file: str) -> list[str]:
        """Number the relations. Return no warnings."""
        self._strings.clear()
        relations = {relation for facts in self.facts for _, relation, _ in facts}
        self.relations = {relation: code for code, relation in enumerate(sorted(relations))}
        return []
