"""Audit of link-prediction gold: its columns, faulty lists of answers, and pairs of questions that reveal answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from evaluator.errors import shown
from evaluator.tasks.audit.findings import Finding, Severity
from evaluator.tasks.audit.grouped_findings import GroupedFindings
from evaluator.tasks.audit.split import AnswerKind, AuditColumns, QueriedTriple, Secret, Split, TaskAudit, Triple
from evaluator.tasks.link_prediction.gold import Gold
from evaluator.tasks.link_prediction.layout import QUERY_MARKER


def _columns(gold: Gold) -> AuditColumns:
    questions = list(zip(gold.questions, (answers for answers, _ in gold.mentions), strict=True))
    return gold.audit_columns(
        questions=gold.questions,
        answers=[frozenset(answers) for _, answers in questions],
        answer_kind=AnswerKind.SET,
        secrets=[Secret("answer", [answers[0] if answers else None for _, answers in questions])],
        triples=[[_filled(question, answer) for answer in answers] for question, answers in questions],
        queried_triples=[triple for question, answers in questions for triple in _queried_triples(question, answers)],
    )


def _filled(question: Triple, answer: str) -> Triple:
    subject, relation, object_ = question
    return (answer, relation, object_) if subject == QUERY_MARKER else (subject, relation, answer)


def _queried_triples(question: Triple, answers: Sequence[str]) -> Iterator[QueriedTriple]:
    mentions = tuple(answer for answer in answers if answer.strip())
    for answer in mentions:
        subjects, objects = (mentions, ()) if question[0] == QUERY_MARKER else ((), mentions)
        yield QueriedTriple(*_filled(question, answer), subjects, objects)


def _check(split: Split) -> Iterator[Finding]:
    findings, gold = GroupedFindings(split), split.gold
    error, warning, note = Severity
    hopeless = findings.kind(
        warning, "no-answers", "have no answers", "no system can find an answer, which lowers every score", "drop them"
    )
    empty = findings.kind(error, "empty-mention", "have an empty mention", "no ranking can contain it", "drop it")
    in_question = findings.kind(
        warning,
        "answer-in-question",
        "have the mention in the question among their answers",
        "the question contains its answer",
        "check them",
    )
    both = findings.kind(
        warning,
        "answer-filtered",
        "have a mention both in answers and in filtered",
        "the mention names two entities; it counts as an answer",
        "check the mention lists",
    )
    repeated = findings.kind(
        note, "repeated-mention", "list an answer twice", "it has no effect on scores", "drop one of them"
    )
    paired = findings.kind(
        note,
        "questions-answer-each-other",
        "are answered by another public question with the same relation, whose other part is missing, in another group",
        "combining (i, k, ?) with (?, k, j) gives a short list of answers, and groups count as independent",
        "put the questions of a triple into one group (as split open-questions does), and forbid combining in the "
        "rules",
    )
    groups_by_question = defaultdict(set)
    for question, group in zip(gold.questions, gold.groups, strict=True):
        mention = question[2] if question[0] == QUERY_MARKER else question[0]
        groups_by_question[question[0] == QUERY_MARKER, question[1], mention].add(group)
    for index, (question, (answers, filtered), group) in enumerate(
        zip(gold.questions, gold.mentions, gold.groups, strict=True)
    ):
        head = question[0] == QUERY_MARKER
        mention = question[2] if head else question[0]
        if not answers:
            hopeless.add(index)
        if not all(text.strip() for text in (*answers, *filtered, *question)):
            empty.add(index)
        if mention in answers:
            in_question.add(index, shown(mention))
        if not set(answers).isdisjoint(filtered):
            both.add(index, shown(next(answer for answer in answers if answer in filtered)))
        if len(set(answers)) < len(answers):
            repeated.add(index)
        others = {
            other_group
            for answer in answers
            for other_group in groups_by_question.get((not head, question[1], answer), ())
        }
        if others - {group} and not others & {group}:
            paired.add(index)
    return findings.findings()


AUDIT = TaskAudit(_columns, _check)
