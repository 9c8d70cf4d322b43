"""`relation-classifier` and `binary-relation-classifier`: the facts of a text (after Goodrich et al. 2019, section 5).

Mentions are found first. A classifier then decides for each ordered pair of mentions of one sentence which relation the
first has to the second. `relation-classifier` chooses one of all relations and *no relation*; the binary one decides on
each relation separately.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evaluator.curation.corruption.dates import MONTHS, find_dates
from evaluator.errors import GoldError, InputsError, ProblemList, UsageError
from evaluator.jsonl.ids import IdRegister
from evaluator.jsonl.reader import Reader
from evaluator.progress import Steps
from evaluator.reference_systems.base import Job, Line, System, opened
from evaluator.reference_systems.files import INPUTS
from evaluator.reference_systems.texts.mentions import (
    DATE,
    NAME,
    PERSONAL,
    RELATIVE,
    Mention,
    MentionFinder,
    Token,
    main_name,
    tokenize,
)
from evaluator.reference_systems.texts.pairs import TextFeatures, Vocabulary
from evaluator.tasks import fact_extraction
from evaluator.tasks.fact_extraction.layout import INPUTS as TEXTS
from evaluator.tasks.fact_extraction.layout import Fact, InputText

TASK = "fact-extraction"
_LEAST_PAIRS = 2
"""The minimum number of training pairs with a feature."""
_MENTION_SHARE = 0.5
"""The minimum share of a listed name's occurrences that are mentions."""
_STRENGTH = 1.0
"""The inverse strength of the L2 penalty."""
NO_RELATION = ""
_SENTENCE_END = frozenset(".!?")
_OF_SUBJECT = frozenset(("he", "him", "his", "she", "her", "hers", "it", "its", "i", "me", "my"))
"""The personal pronouns that are the text's subject."""
_SUBJECT_TOKEN = "<subject>"  # noqa: S105 - a mark, not a secret
_NO_TEXT = ("text is missing", "no such key", "the text to read")


class Sentence(NamedTuple):
    """A sentence with its mentions, of which pairs may state a fact.

    names: the name of each mention as facts write it: pronouns resolved, dates in one format.
    """

    tokens: list[Token]
    mentions: list[Mention]
    names: list[str]

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield the ordered pairs of mentions with different names, as indices."""
        n = len(self.names)
        return ((i, j) for i in range(n) for j in range(n) if self.names[i] != self.names[j])


class DateStyle:
    """Writer of dates in the format that most dates of training facts have."""

    def __init__(self, names: Iterable[str]) -> None:
        forms = Counter(hit.form for name in names for hit in find_dates(name) if hit.match.span() == (0, len(name)))
        self._form = min(forms, key=lambda form: (-forms[form], form), default=0)

    def __call__(self, text: str) -> str:
        """Return a date in the format of this style, any other text unchanged."""
        hit = next(find_dates(text), None)
        if hit is None or hit.match.span() != (0, len(text)) or not self._form:
            return text
        year, month, day = hit.date
        return (
            f"{day} {MONTHS[month - 1]} {year}",
            f"{MONTHS[month - 1]} {day}, {year}",
            f"{year:04d}-{month:02d}-{day:02d}",
        )[self._form - 1]


class SentenceReader:
    """Splits a text into sentences, and finds their mentions and the name of each mention."""

    def __init__(self, finder: MentionFinder, write_date: DateStyle) -> None:
        self._finder, self._write_date = finder, write_date

    def sentences(self, text: str, subject: str) -> list[Sentence]:
        """Return those sentences of a text that have at least two mentions.

        A pronoun such as `he`, and a part of the subject's name, is a mention of the subject. In front of a sentence
        that does not mention the subject, a token is inserted as a mention of the subject. subject: the name of the
        text's subject; empty: unknown.
        """
        tokens = tokenize(text)
        mentions = self._finder.find(text, tokens)
        ends = [index + 1 for index, token in enumerate(tokens) if token.text in _SENTENCE_END]
        # A mention never crosses the end of a sentence, because punctuation is in no name that the finder makes, but a
        # listed name may have some.
        inside = {index for mention in mentions for index in range(mention.first + 1, mention.last)}
        bounds = [0, *(end for end in ends if end not in inside), len(tokens)]
        sentences = []
        for first, last in pairwise(bounds):
            part = [mention for mention in mentions if first <= mention.first < last]
            sentence = self._sentence(text, tokens[first:last], [_moved(mention, -first) for mention in part], subject)
            if len(sentence.mentions) > 1:
                sentences.append(sentence)
        return sentences

    def main_subject(self, text: str) -> str:
        """Return the name that contains the most of a text's names, such as a full name, as the text writes it.

        Returns an empty text if the text has no name.
        """
        tokens = tokenize(text)
        spans = [(mention.first, mention.last) for mention in self._finder.find(text, tokens) if mention.kind == NAME]
        names = {
            tuple(token.text for token in tokens[first:last]): text[tokens[first].start : tokens[last - 1].end]
            for first, last in spans
        }
        return names.get(main_name([tuple(token.text for token in tokens[first:last]) for first, last in spans]), "")

    def _sentence(self, text: str, tokens: list[Token], mentions: list[Mention], subject: str) -> Sentence:
        names = [self._name(text, tokens, mention, subject) for mention in mentions]
        if subject and mentions and subject not in names:
            start = tokens[0].start
            tokens = [Token(_SUBJECT_TOKEN, start, start), *tokens]
            mentions = [Mention(0, 1, PERSONAL), *(_moved(mention, 1) for mention in mentions)]
            names = [subject, *names]
        named = [index for index, name in enumerate(names) if name]
        return Sentence(tokens, [mentions[index] for index in named], [names[index] for index in named])

    def _name(self, text: str, tokens: Sequence[Token], mention: Mention, subject: str) -> str:
        """Return the name of a mention, in the form in which facts write it.

        It is empty for relative pronouns, and for personal pronouns that do not stand for the subject. subject: the
        name of the text's subject; empty: unknown.
        """
        name = text[tokens[mention.first].start : tokens[mention.last - 1].end]
        if mention.kind == PERSONAL:
            return subject if name.casefold() in _OF_SUBJECT else ""
        if mention.kind == DATE:
            return self._write_date(name)
        if mention.kind == NAME:
            words = {token.text for token in tokens[mention.first : mention.last]}
            return subject if words <= {token.text for token in tokenize(subject)} else name
        return name if mention.kind != RELATIVE else ""


def _moved(mention: Mention, by: int) -> Mention:
    return Mention(mention.first + by, mention.last + by, mention.kind)


class RelationClassifier:
    """Finds the facts of a text: classifies the relation between two mentions of a sentence.

    It is trained on texts with their facts.
    """

    def __init__(self, texts: Sequence[tuple[str, str, Iterable[Fact]]], *, binary: bool) -> None:
        """Train on texts with their facts.

        texts: (text, its subject or an empty text, facts). binary: True for a separate decision on each relation, False
        for a choice of one relation or none.
        """
        marked, names = [], []
        for text, _, facts in texts:
            names += [name for subject, _, object_ in facts for name in (subject, object_)]
            tokens = tokenize(text)
            marked.append((tokens, _occurrences(tokens, {name for fact in facts for name in (fact[0], fact[2])})))
        self._reader = SentenceReader(MentionFinder.trained(marked, _MENTION_SHARE), DateStyle(names))
        sentences: list[Sentence] = []
        labels: list[str] = []
        rows: list[int] = []
        row = 0
        for text, subject, facts in texts:
            relations: dict[tuple[str, str], list[str]] = {}
            for fact_subject, relation, object_ in sorted(set(facts)):
                relations.setdefault((fact_subject, object_), []).append(relation)
            for sentence in self._reader.sentences(text, subject or self.main_subject(text)):
                sentences.append(sentence)
                for i, j in sentence.pairs():
                    # A pair with several relations is an example of each.
                    for relation in relations.get((sentence.names[i], sentence.names[j]), [NO_RELATION]):
                        labels.append(relation)
                        rows.append(row)
                    row += 1
        self.relations = sorted({*labels} - {NO_RELATION})
        self._vocabulary = Vocabulary((pair for sentence in sentences for pair in _features(sentence)), _LEAST_PAIRS)
        matrix, answers, of_row = self._matrix(sentences), np.array(labels), np.array(rows, dtype=np.int64)
        self._models: list[Any] = []
        if binary:
            for relation in self.relations:
                chosen = of_row[answers == relation]
                is_relation = np.where(np.isin(np.arange(row), chosen), relation, NO_RELATION)
                self._models.append(_fitted(matrix, is_relation, "liblinear"))
        elif self.relations:
            self._models.append(_fitted(matrix[of_row], answers, "lbfgs"))

    def main_subject(self, text: str) -> str:
        """Return the name that contains the most of a text's names, such as a full name, as the text writes it.

        Returns an empty text if the text has no name.
        """
        return self._reader.main_subject(text)

    def facts(self, text: str, subject: str) -> list[Fact]:
        """Return the sorted facts (subject, relation, object) of a text.

        subject: the name of the text's subject; empty: the name that `main_subject` returns.
        """
        sentences = self._reader.sentences(text, subject or self.main_subject(text))
        if not sentences or not self._models:
            return []
        matrix = self._matrix(sentences)
        pairs = [(sentence.names[i], sentence.names[j]) for sentence in sentences for i, j in sentence.pairs()]
        return sorted(
            {
                (name, relation, object_)
                for model in self._models
                for (name, object_), relation in zip(pairs, model.predict(matrix).tolist(), strict=True)
                if relation != NO_RELATION
            }
        )

    def _matrix(self, sentences: Sequence[Sentence]) -> Any:
        return self._vocabulary.matrix(pair for sentence in sentences for pair in _features(sentence))


def _features(sentence: Sentence) -> Iterator[Iterator[str]]:
    shared = TextFeatures(sentence.tokens, sentence.mentions)
    return (shared.of_pair(*pair) for pair in sentence.pairs())


def _fitted(matrix: Any, answers: Any, solver: str) -> Any:
    """Return a classifier fitted to `matrix`, a row of features per pair, and its `answers`, one per row.

    If all answers are equal, the classifier always gives this answer.
    """
    from sklearn.dummy import DummyClassifier
    from sklearn.linear_model import LogisticRegression

    if (answers == answers[0]).all():
        return DummyClassifier(strategy="most_frequent").fit(matrix, answers)
    return LogisticRegression(C=_STRENGTH, solver=solver, tol=1e-3, max_iter=200).fit(matrix, answers)


def _occurrences(tokens: Sequence[Token], names: Iterable[str]) -> set[tuple[int, int]]:
    """Return the token ranges at which one of the names occurs, regardless of case."""
    words = [token.text.casefold() for token in tokens]
    ranges = set()
    for name in names:
        name_words = [token.text.casefold() for token in tokenize(name)]
        for index in range(len(words) - len(name_words) + 1) if name_words else ():
            if words[index : index + len(name_words)] == name_words:
                ranges.add((index, index + len(name_words)))
    return ranges


def train_classifier(job: Job, *, binary: bool) -> RelationClassifier:
    """Return a classifier trained on the gold of `--train`.

    binary: True for a separate decision on each relation, False for a choice of one relation or none. Raises GoldError
    if the gold is invalid or a line lacks a text, UsageError if no text in it has facts.
    """
    texts = []
    for path in job.paths("train"):
        with opened(path) as stream:
            gold = fact_extraction.TASK.read_gold(stream, str(path), {})
        problems = ProblemList(str(path), GoldError)
        for number, (line, facts) in enumerate(zip(gold.texts, gold.facts, strict=True), 1):
            if isinstance(line.text, str):
                texts.append((line.text, line.subject if isinstance(line.subject, str) else "", facts))
            else:
                problems.add(number, *_NO_TEXT)
        problems.raise_if_any()
    if not any(facts for _, _, facts in texts):
        raise UsageError("the training texts have no facts, expected gold of fact-extraction with text and facts")
    return RelationClassifier(texts, binary=binary)


def _read_texts(path: Path) -> list[InputText]:
    reader = Reader(str(path), TEXTS, InputsError)
    register = IdRegister(reader.problems)
    texts = []
    with opened(path) as stream:
        for number, line in reader.records(stream):
            if not isinstance(line.text, str):
                reader.problems.add(number, *_NO_TEXT)
            elif register.add(line.id, number):
                texts.append(line)
    reader.problems.raise_if_any()
    return texts


def _predict(job: Job, *, binary: bool) -> Iterator[Line]:
    inputs = [line for path in job.paths(INPUTS) for line in _read_texts(path)]
    classifier, steps = train_classifier(job, binary=binary), Steps(2)
    steps.add(1)
    for line in inputs:
        facts = classifier.facts(str(line.text), line.subject if isinstance(line.subject, str) else "")
        steps.add(1 / len(inputs))
        yield {"id": line.id, "facts": facts}


def _predicting(*, binary: bool) -> Callable[[Job], Iterator[Line]]:
    return lambda job: _predict(job, binary=binary)


_SOURCE = "after Goodrich et al. 2019 (WikiFact)"
SYSTEMS = (
    System(
        "relation-classifier",
        (TASK,),
        "one relation or none for each pair of mentions of a sentence, by logistic regression",
        _SOURCE,
        _predicting(binary=False),
        needs=("train",),
    ),
    System(
        "binary-relation-classifier",
        (TASK,),
        "each relation or not for each pair of mentions of a sentence, by logistic regressions",
        _SOURCE,
        _predicting(binary=True),
        needs=("train",),
    ),
)
