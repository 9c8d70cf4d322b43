"""`knowledgenet-1` and `knowledgenet-2`: facts between mentions of a passage (after Mesquita et al. 2019).

`knowledgenet-1` finds mentions; a linear multi-task model then decides for each ordered pair of a passage's mentions
and each property whether they state a fact. `knowledgenet-2` also takes personal pronouns as mentions of the document's
subject: their features are the words of its name, and they have its link.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.curation.graph.files import rows
from evaluator.errors import GoldError, InputsError, ProblemList, UsageError
from evaluator.jsonl.ids import IdRegister
from evaluator.jsonl.reader import Reader
from evaluator.progress import Steps
from evaluator.reference_systems.base import Job, Line, System, opened
from evaluator.reference_systems.files import INPUTS
from evaluator.reference_systems.texts.mentions import NAME, PERSONAL, Mention, MentionFinder, main_name, tokenize
from evaluator.reference_systems.texts.multi_task import (
    NO_EXAMPLE,
    Marks,
    MultiTaskModel,
    Numbers,
    Rows,
    best_threshold,
)
from evaluator.reference_systems.texts.pairs import TextFeatures, Vocabulary
from evaluator.statistics.random_streams import random_stream
from evaluator.tasks.knowledge_base_population.gold import read_gold
from evaluator.tasks.knowledge_base_population.layout import (
    DATE_PROPERTIES,
    GoldDocument,
    GoldPassage,
    InputDocument,
    InputPassage,
)
from evaluator.tasks.knowledge_base_population.layout import (
    INPUTS as DOCUMENTS,
)
from evaluator.text import count_noun

TASK = "knowledge-base-population"
_LEAST_PAIRS = 2
"""The minimum number of training pairs with a feature."""
_DEVELOPMENT_SHARE = 0.25
"""The share of the training documents that thresholds are chosen on."""
_MENTION_SHARE = 0.1
"""The minimum share of a listed name's occurrences that are mentions."""
_OF_SUBJECT = frozenset(["i", "me", "my", "he", "him", "his", "she", "her", "hers", "it", "its"])
"""The personal pronouns that are the document's subject."""
_STEPS = 5

Span = tuple[int, int]


class Passage:
    """A passage with its tokens.

    start: the passage's offset in the document; the offsets of tokens are relative to the passage.
    """

    def __init__(self, document: GoldDocument | InputDocument, passage: GoldPassage | InputPassage) -> None:
        self.id, self.start = passage.passageId, max(0, passage.passageStart)
        self.text = document.documentText[self.start : max(0, passage.passageEnd)]
        self.tokens = tokenize(self.text)
        self.mentions: list[Mention] = []
        self.subject: tuple[str, ...] = ()
        """The words of the name of the document's subject, if pronouns are resolved."""

    def span(self, mention: Mention) -> Span:
        """Return the offsets (start, end) of a mention in the document, in code points."""
        return self.start + self.tokens[mention.first].start, self.start + self.tokens[mention.last - 1].end

    def name(self, mention: Mention) -> str:
        return self.text[self.tokens[mention.first].start : self.tokens[mention.last - 1].end]

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield (subject, object) for all ordered pairs of mentions, as indices."""
        n = len(self.mentions)
        return ((subject, object_) for subject in range(n) for object_ in range(n) if subject != object_)

    def features(self) -> Iterator[Iterator[str]]:
        """Yield the features of each ordered pair of mentions, in the order of `pairs`."""
        shared = TextFeatures(self.tokens, self.mentions, self.subject)
        return (shared.of_pair(*pair) for pair in self.pairs())


def resolve_subject(passages: Sequence[Passage]) -> None:
    """Set `subject` of all passages of a document to the name that contains the most names of the document."""
    names = [
        tuple(token.text for token in passage.tokens[mention.first : mention.last])
        for passage in passages
        for mention in passage.mentions
        if mention.kind == NAME
    ]
    subject = main_name(names)
    for passage in passages:
        passage.subject = subject


def trained_finder(documents: Sequence[GoldDocument]) -> MentionFinder:
    """Return a mention finder whose list comes from the subjects and objects of these documents' facts."""
    texts = []
    for document in documents:
        for annotated in document.passages:
            passage = Passage(document, annotated)
            texts.append((passage.tokens, _token_ranges(passage, annotated)))
    return MentionFinder.trained(texts, _MENTION_SHARE)


class Extractor:
    """A fact extractor trained on documents, with its mention finder and its vocabulary of features."""

    def __init__(self, documents: Sequence[GoldDocument], *, resolves: bool) -> None:
        """Train on documents. resolves: True to take personal pronouns as mentions of the document's subject."""
        self._resolves = resolves
        self._finder = trained_finder(documents)
        passages = [passage for document in documents for passage in self.passages(document)]
        self._vocabulary = Vocabulary((pair for passage in passages for pair in passage.features()), _LEAST_PAIRS)
        self._model = MultiTaskModel.fit(self._matrix(passages), _examples(documents, passages))
        self.properties = self._model.tasks

    def passages(self, document: GoldDocument | InputDocument) -> list[Passage]:
        """Return the passages of a document with their mentions."""
        passages = [Passage(document, passage) for passage in document.passages]
        for passage in passages:
            passage.mentions = self._finder.find(passage.text, passage.tokens)
        if self._resolves:
            resolve_subject(passages)
        return passages

    def probabilities(self, passages: Sequence[Passage]) -> Numbers:
        """Return for each pair of mentions and property the probability of a fact: shape (pairs, properties)."""
        return self._model.probabilities(self._matrix(passages))

    def _matrix(self, passages: Sequence[Passage]) -> Any:
        return self._vocabulary.matrix(pair for passage in passages for pair in passage.features())


def _token_ranges(passage: Passage, annotated: GoldPassage) -> set[Span]:
    """Return the token ranges of the subjects and objects of a passage's facts."""
    ranges = set()
    spans = {
        span
        for fact in annotated.facts
        for span in ((fact.subjectStart, fact.subjectEnd), (fact.objectStart, fact.objectEnd))
    }
    for start, end in spans:
        inside = [
            index
            for index, token in enumerate(passage.tokens)
            if _overlap((passage.start + token.start, passage.start + token.end), (start, end))
        ]
        if inside:
            ranges.add((inside[0], inside[-1] + 1))
    return ranges


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _examples(documents: Sequence[GoldDocument], passages: Sequence[Passage]) -> dict[str, tuple[Rows, Marks]]:
    """Return property -> (indices of its examples among all pairs of mentions, their labels: True for positive ones).

    Examples of a property are the pairs of the passages in which it is annotated or has a fact. A pair is positive if
    its mentions overlap the subject and the object of one of the property's facts.
    """
    rows: dict[str, list[int]] = {}
    labels: dict[str, list[bool]] = {}
    row = 0
    annotated = (passage for document in documents for passage in document.passages)
    for passage, gold in zip(passages, annotated, strict=True):
        spans = [passage.span(mention) for mention in passage.mentions]
        facts: dict[str, list[tuple[Span, Span]]] = {
            item.propertyId: [] for item in gold.exhaustivelyAnnotatedProperties
        }
        for fact in gold.facts:
            ends = (fact.subjectStart, fact.subjectEnd), (fact.objectStart, fact.objectEnd)
            facts.setdefault(fact.propertyId, []).append(ends)
        pairs = [(spans[subject], spans[object_]) for subject, object_ in passage.pairs()]
        for name, ends_of_facts in facts.items():
            rows.setdefault(name, []).extend(range(row, row + len(pairs)))
            labels.setdefault(name, []).extend(
                any(_overlap(subject, ends[0]) and _overlap(object_, ends[1]) for ends in ends_of_facts)
                for subject, object_ in pairs
            )
        row += len(pairs)
    return {name: (np.array(rows[name], np.int64), np.array(labels[name], np.bool_)) for name in rows}


def _thresholds(extractor: Extractor, documents: Sequence[GoldDocument]) -> dict[str, float]:
    """Return property -> the threshold of the property's probabilities that has the highest F1 on these documents."""
    passages = [passage for document in documents for passage in extractor.passages(document)]
    examples = _examples(documents, passages)
    probabilities = extractor.probabilities(passages)
    column = {name: index for index, name in enumerate(extractor.properties)}
    return {
        name: best_threshold(probabilities[rows, column[name]], labels)
        for name, (rows, labels) in examples.items()
        if name in column
    }


def read_documents(paths: Sequence[Path]) -> list[GoldDocument]:
    """Return the documents of gold files of knowledge-base-population.

    Raises GoldError for invalid lines, UsageError for an unreadable file or if none of the documents has facts.
    """
    documents: list[GoldDocument] = []
    for path in paths:
        with opened(path) as stream:
            documents += read_gold(stream, str(path), None, None).lines
    if not any(passage.facts for document in documents for passage in document.passages):
        raise UsageError("the training documents have no facts, expected gold with facts")
    return documents


def read_inputs(paths: Sequence[Path]) -> Iterator[InputDocument]:
    """Yield the documents of public inputs. Raises InputsError for invalid lines, UsageError for an unreadable file."""
    for path in paths:
        reader = Reader(str(path), DOCUMENTS, InputsError)
        register = IdRegister(reader.problems, "documentId")
        documents = []
        with opened(path) as stream:
            for number, document in reader.records(stream):
                if register.add(document.documentId, number):
                    documents.append(document)
        reader.problems.raise_if_any()
        yield from documents


def read_aliases(paths: Sequence[Path]) -> dict[str, str]:
    """Return casefolded name -> link, from tab-separated files with two columns: name and link.

    If a name has several links, the first counts. Raises GoldError for invalid lines, UsageError for an unreadable
    file.
    """
    links: dict[str, str] = {}
    for path in paths:
        problems = ProblemList(str(path), GoldError)
        with opened(path) as stream:
            for number, columns in rows(stream, problems):
                if len(columns) != 2 or not all(column.strip() for column in columns):
                    problems.add(
                        number, "not an alias", count_noun(len(columns), "column"), "name and link, tab-separated"
                    )
                else:
                    links.setdefault(columns[0].casefold(), columns[1])
        problems.raise_if_any()
    return links


def _predict(job: Job, *, resolves: bool) -> Iterator[Line]:
    inputs, links = list(read_inputs(job.paths(INPUTS))), read_aliases(job.paths("aliases"))
    documents = read_documents(job.paths("train"))
    steps = Steps(_STEPS)
    order = sorted(documents, key=lambda document: str(document.documentId))
    random_stream(job.seed, "development").shuffle(order)
    size = int(len(order) * _DEVELOPMENT_SHARE)
    thresholds: dict[str, float] = {}
    if size > 0:
        thresholds = _thresholds(Extractor(order[size:], resolves=resolves), order[:size])
    steps.add(2)
    extractor = Extractor(order, resolves=resolves)
    steps.add(2)
    least = np.array([thresholds.get(name, NO_EXAMPLE) for name in extractor.properties])
    for document in inputs:
        passages = extractor.passages(document)
        is_fact = extractor.probabilities(passages) >= least
        lines = []
        first = 0
        for passage in passages:
            pairs = list(passage.pairs())
            facts = [
                _fact(passage, extractor.properties[column], *pairs[row], links)
                for row, column in np.argwhere(is_fact[first : first + len(pairs)]).tolist()
            ]
            lines.append({"passageId": passage.id, "facts": facts})
            first += len(pairs)
        steps.add(1 / len(inputs))
        yield {"documentId": document.documentId, "passages": lines}


def _fact(passage: Passage, name: str, subject: int, object_: int, links: Mapping[str, str]) -> Line:
    spans = [passage.span(passage.mentions[index]) for index in (subject, object_)]
    uris = [_link(passage, passage.mentions[index], links) for index in (subject, object_)]
    return {
        "propertyId": name,
        "subjectStart": spans[0][0],
        "subjectEnd": spans[0][1],
        "objectStart": spans[1][0],
        "objectEnd": spans[1][1],
        "subjectUri": uris[0],
        "objectUri": "" if name in DATE_PROPERTIES else uris[1],
    }


def _link(passage: Passage, mention: Mention, links: Mapping[str, str]) -> str:
    name = passage.name(mention)
    if mention.kind == PERSONAL:
        name = " ".join(passage.subject) if name.casefold() in _OF_SUBJECT else ""
    return links.get(name.casefold(), "")


def _predicting(*, resolves: bool) -> Callable[[Job], Iterator[Line]]:
    return lambda job: _predict(job, resolves=resolves)


_SOURCE = "after Mesquita et al. 2019 (KnowledgeNet)"
SYSTEMS = (
    System(
        "knowledgenet-1",
        (TASK,),
        "facts between the mentions of a passage, by a linear multi-task model with a threshold per property",
        _SOURCE,
        _predicting(resolves=False),
        needs=("train",),
        uses=("aliases",),
    ),
    System(
        "knowledgenet-2",
        (TASK,),
        "knowledgenet-1, with personal pronouns as mentions of the document's subject",
        _SOURCE,
        _predicting(resolves=True),
        needs=("train",),
        uses=("aliases",),
    ),
)
