"""Importer of OLPBENCH (Broscheit et al. 2020): link prediction on open triples, with several correct mentions each."""

from __future__ import annotations

from pathlib import Path

import msgspec

from evaluator.curation.open_triples.questions import Question, count_leaked, groups, questions
from evaluator.jsonl.decompress import ReadLimits
from leaderboard.benchmarks.manifest import Manifest, PhasePart, SplitPart, TrackPart
from leaderboard.hosting.importers.choices import Choices, Imported, PublishedPart, reported
from leaderboard.hosting.importers.olpbench_files import Known, OpenTriple, triples
from leaderboard.hosting.importers.published import GoldLine, Origins, PublishedFileError, find, leak, missing
from leaderboard.hosting.importers.salted import Salt

TRACKS = [
    TrackPart(
        name=level.lower(), title=level, description=f"Learnt from the training data cleaned at the level {level}."
    )
    for level in ("SIMPLE", "BASIC", "THOROUGH")
]
"""Tracks: the training data that a submission declares."""
TEST_TRIPLES = 10_000
DATA = ("test_data.txt",)
# The first of these files that exists is used. SIMPLE comes first because it contains the other two: the more known
# answers are filtered from rankings, the fewer correct answers count as wrong.
TRAIN = (
    ("train_data_simple.txt",),
    ("train_data_basic.txt",),
    ("train_data_thorough.txt",),
    ("train.txt", "train.tsv"),
)


# A benchmark's page opens with the last phase.
PARTS = (
    PublishedPart("validation-all", "Validation, ALL", "dev", ("validation_data_all.txt",)),
    PublishedPart("validation-mention", "Validation, MENTION", "dev", ("validation_data_linked_mention.txt",)),
    PublishedPart(
        "validation-linked", "Validation, LINKED", "dev", ("validation_data_linked.txt", "valid.txt", "valid.tsv")
    ),
    PublishedPart("test", "Test", "test", (*DATA, "test.txt", "test.tsv")),
)


def prepare(published: Path, work: Path, choices: Choices) -> Imported:
    """Import each validation or test file as a hidden split of questions with salted ids, sorted by these ids.

    published: folder of the published files. work: folder for the files that the importer writes.
    """
    salt, origins = Salt(choices.salt), Origins()
    paths = {part: path for part in PARTS if (path := _find(published, part.names))}
    if not paths:
        raise missing(published, [name for part in PARTS for name in part.names])
    evaluated = {part: _read(path, choices) for part, path in paths.items()}
    known = _known(published, list(evaluated.values()), choices)
    questions_of = {part: questions(read, known.answers) for part, read in evaluated.items()}
    _check_nothing_leaks(questions_of, choices)
    splits, phases = [], []
    for part, path in paths.items():
        origins.write(work / f"{part.split}.jsonl", _lines(path, evaluated[part], questions_of[part], salt, choices))
        splits.append(choices.split(part.split, part.kind))
        phases.append(choices.phase(slug=part.split, title=part.title, split=part.split, tracks=TRACKS))
        choices.say(f"{path.name}: {len(evaluated[part]):,} triples, {len(questions_of[part]):,} questions")
    hosts_test = any(
        path.name.removesuffix(".gz") in DATA and len(evaluated[part]) == TEST_TRIPLES for part, path in paths.items()
    )
    return Imported(manifest=_manifest(choices, splits, phases, hosts_test), origins=origins, id_map=salt.ids)


def _find(published: Path, names: tuple[str, ...]) -> Path | None:
    # The folder mapped_to_ids of the published archive has files of the same names, with ids instead of words.
    return find(published, [name + end for name in names for end in ("", ".gz")], but="mapped_to_ids")


def _read(path: Path, choices: Choices) -> list[OpenTriple]:
    loaded = list(triples(path))
    if not loaded:
        raise PublishedFileError(f"{path.name}: found no triples, expected one per line")
    fit = [triple for triple in loaded if "?" not in (triple.subject, triple.object)]
    if len(fit) < len(loaded):
        choices.say(f'warning: {path.name}: {len(loaded) - len(fit)} triples with the mention "?" are left out')
    return fit


def _known(published: Path, evaluated: list[list[OpenTriple]], choices: Choices) -> Known:
    """Collect the known answers to the questions that the evaluation triples ask.

    The answers come from these triples and from one training file in the folder `published`, the first of TRAIN.
    evaluated: the triples of each evaluation file.
    """
    known = Known()
    for loaded in evaluated:
        for triple in loaded:
            known.ask(triple.tail)
            known.ask(triple.head)
    for loaded in evaluated:
        for triple in loaded:
            known.learn(triple)
    train = next((path for names in TRAIN if (path := _find(published, names))), None)
    if train is None:
        choices.say("warning: found no training triples; answers that only they contain will count as wrong")
    else:
        choices.say(f"{train.name}: {known.learn_from(train):,} triples, read for their known answers")
    return known


def _check_nothing_leaks(questions_of: dict[PublishedPart, list[Question]], choices: Choices) -> None:
    """Raise PublishedFileError if public gold of one split contains answers of a hidden split.

    questions_of: the questions of each evaluation file. choices: say which gold is public.
    """
    for public, public_questions in questions_of.items():
        for hidden, hidden_questions in questions_of.items():
            if public.split not in choices.public_gold or hidden.split in choices.public_gold:
                continue
            count = count_leaked(public_questions, hidden_questions)
            if count:
                raise leak(public.split, hidden.split, count)


def _lines(
    path: Path, loaded: list[OpenTriple], questions: list[Question], salt: Salt, choices: Choices
) -> list[GoldLine]:
    """Return the gold lines of the questions of one evaluation file, sorted by salted id.

    The ids do not reveal which questions come from the same triple. Questions whose lines are too long are left out.
    path: of the evaluation file. loaded: its triples.
    """
    content = []
    for question, group in zip(questions, groups(questions), strict=True):
        names = [f"{path.name}:{loaded[index].line} {question.side}" for index in question.triples]
        public = salt.id(names[0])
        salt.ids.update(dict.fromkeys(names, public))
        gold = {
            "id": public,
            "question": question.prefix,
            "answers": question.answers,
            "filtered": question.filtered,
            "group": salt.group(f"{path.name}:{loaded[group].line}"),
            "slices": {"side": question.side},
        }
        content.append((msgspec.json.encode(gold), path, loaded[question.triples[0]].line))
    fitting = [item for item in content if len(item[0]) <= ReadLimits().line_bytes]
    if len(fitting) < len(content):
        choices.say(
            f"warning: {path.name}: {len(content) - len(fitting)} questions of over 1 MiB of answers are left out"
        )
    return sorted(fitting, key=lambda item: item[0])  # each line begins with its salted id


def _manifest(choices: Choices, splits: list[SplitPart], phases: list[PhasePart], hosts_test: bool) -> Manifest:
    return Manifest(
        slug=choices.slug or "olpbench",
        title=choices.title or "OLPBENCH",
        task="link-prediction",
        summary="Complete facts as sentences state them: rank mentions for the missing part of an open triple.",
        description=[
            "Open triples come from sentences: subject, relation and object are words, and one entity has many "
            "mentions. Any mention of the right entity answers a question.",
            "Each triple is a question for its object and one for its subject. Other answers known from the training, "
            "validation or test triples do not count against a ranking. Equal questions with the same mentions as "
            "answers are one question, and the questions of one triple are resampled together.",
            "Training on triples that state an evaluated fact in other words would measure memory. From the published "
            "training data, few (SIMPLE), more (BASIC) or most (THOROUGH) such triples were removed.",
        ],
        rules="Say on which training data your system was trained: SIMPLE, BASIC or THOROUGH.",
        citation=(
            "Samuel Broscheit, Kiril Gashteovski, Yanjie Wang, Rainer Gemulla. Can We Predict New Facts with Open "
            "Knowledge Graph Embeddings? A Benchmark for Open Link Prediction. ACL 2020."
        ),
        source="The published files of OLPBENCH.",
        source_url="https://github.com/samuelbroscheit/open_link_prediction_benchmark",
        public=choices.public,
        splits=splits,
        phases=phases,
        reported=reported("olpbench", hosted=hosts_test),
    )
