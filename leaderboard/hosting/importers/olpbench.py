"""OLPBENCH (Broscheit et al. 2020): questions with many right mentions, from open triples."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from evaluator.curation.open_triples.questions import Question, groups, questions, told
from evaluator.jsonl.decompress import ReadLimits
from leaderboard.benchmarks.manifest import Manifest, PhasePart, SplitPart
from leaderboard.hosting.importers import olpbench_reported
from leaderboard.hosting.importers.choices import Choices, Imported
from leaderboard.hosting.importers.olpbench_files import Known, Open, triples
from leaderboard.hosting.importers.published import ImportFault, Origins, find
from leaderboard.hosting.importers.salted import Salt

DATA = ("test_data.txt",)
# SIMPLE holds what the others hold: with more known answers, fewer right ones are counted as wrong.
TRAIN = (
    ("train_data_simple.txt",),
    ("train_data_basic.txt",),
    ("train_data_thorough.txt",),
    ("train.txt", "train.tsv"),
)


@dataclass(frozen=True)
class Part:
    """One published file and the split that it becomes."""

    split: str
    title: str
    kind: str
    names: tuple[str, ...]


# A benchmark's page opens with the last phase.
PARTS = (
    Part("validation-all", "Validation, ALL", "dev", ("validation_data_all.txt",)),
    Part("validation-mention", "Validation, MENTION", "dev", ("validation_data_linked_mention.txt",)),
    Part("validation-linked", "Validation, LINKED", "dev", ("validation_data_linked.txt", "valid.txt", "valid.tsv")),
    Part("test", "Test", "test", (*DATA, "test.txt", "test.tsv")),
)


def prepare(published: Path, work: Path, choices: Choices) -> Imported:
    """Each evaluation file becomes a hidden split of questions with salted ids, in the order of these."""
    salt, origins = Salt(choices.salt), Origins()
    found = {part: path for part in PARTS if (path := _find(published, part.names))}
    if not found:
        wanted = [name for part in PARTS for name in part.names]
        raise ImportFault(f"{published}: found no {' or '.join(wanted)}; expected one here or one folder down")
    evaluated = {part: _read(path, choices) for part, path in found.items()}
    known = _known(published, list(evaluated.values()), choices)
    asked = {part: questions(read, known.answers) for part, read in evaluated.items()}
    _check_nothing_leaks(asked, choices)
    splits, phases = [], []
    for part, path in found.items():
        origins.write(work / f"{part.split}.jsonl", _lines(path, evaluated[part], asked[part], salt, choices))
        public = part.split in choices.public_gold
        splits.append(SplitPart(name=part.split, kind=part.kind, gold=f"{part.split}.jsonl", gold_public=public))  # type: ignore[arg-type]
        phases.append(
            choices.phase(slug=part.split, title=part.title, split=part.split, tracks=olpbench_reported.TRACKS)
        )
        choices.say(f"{path.name}: {len(evaluated[part]):,} triples, {len(asked[part]):,} questions")
    hosts_test = any(
        path.name.removesuffix(".gz") in DATA and len(evaluated[part]) == olpbench_reported.TEST_TRIPLES
        for part, path in found.items()
    )
    return Imported(manifest=_manifest(choices, splits, phases, hosts_test), origins=origins, id_map=salt.ids)


def _find(published: Path, names: tuple[str, ...]) -> Path | None:
    # The published archive has the same names once more in there, with ids for words.
    return find(published, [name + end for name in names for end in ("", ".gz")], but="mapped_to_ids")


def _read(path: Path, choices: Choices) -> list[Open]:
    read = list(triples(path))
    if not read:
        raise ImportFault(f"{path.name}: found no triple, expected one a line")
    fit = [triple for triple in read if "?" not in (triple.subject, triple.object)]
    if len(fit) < len(read):
        choices.say(f'warning: {path.name}: {len(read) - len(fit)} triples with the mention "?" are left out')
    return fit


def _known(published: Path, evaluated: list[list[Open]], choices: Choices) -> Known:
    """The known answers of each prefix, from the evaluation triples and the largest training file."""
    known = Known()
    for read in evaluated:
        for triple in read:
            known.ask(triple.tail)
            known.ask(triple.head)
    for read in evaluated:
        for triple in read:
            known.learn(triple)
    train = next((path for names in TRAIN if (path := _find(published, names))), None)
    if train is None:
        choices.say("warning: found no training triples; answers that only they know will count as wrong")
    else:
        choices.say(f"{train.name}: {known.learn_from(train):,} triples, read for their known answers")
    return known


def _check_nothing_leaks(asked: dict[Part, list[Question]], choices: Choices) -> None:
    """Known answers of one split name evaluated ones of another."""
    for public, theirs in asked.items():
        for hidden, ours in asked.items():
            if public.split not in choices.public_gold or hidden.split in choices.public_gold:
                continue
            count = told(theirs, ours)
            if count:
                raise ImportFault(
                    f"public gold of {public.split} would tell {count} answers of {hidden.split}; "
                    "expected both public, both hidden, or a folder without one of their files"
                )


def _lines(
    path: Path, read: list[Open], asked: list[Question], salt: Salt, choices: Choices
) -> list[tuple[bytes, Path, int]]:
    """Gold lines by salted id. Public ids must not tell that two questions are of one triple."""
    content = []
    for question, group in zip(asked, groups(asked), strict=True):
        names = [f"{path.name}:{read[place].line} {question.side}" for place in question.triples]
        public = salt.id(names[0])
        salt.ids.update(dict.fromkeys(names, public))
        gold = {
            "id": public,
            "question": question.prefix,
            "answers": question.answers,
            "filtered": question.filtered,
            "group": salt.group(f"{path.name}:{read[group].line}"),
            "slices": {"side": question.side},
        }
        content.append((msgspec.json.encode(gold), path, read[question.triples[0]].line))
    kept = [item for item in content if len(item[0]) <= ReadLimits().line_bytes]
    if len(kept) < len(content):
        choices.say(f"warning: {path.name}: {len(content) - len(kept)} questions of over 1 MiB of answers are left out")
    return sorted(kept, key=lambda item: item[0])  # each line begins with its salted id


def _manifest(choices: Choices, splits: list[SplitPart], phases: list[PhasePart], hosts_test: bool) -> Manifest:
    return Manifest(
        slug=choices.slug or "olpbench",
        title=choices.title or "OLPBENCH",
        task="link-prediction",
        summary="Complete facts as sentences state them: rank mentions for the missing end of an open triple.",
        description=[
            "Open triples come from sentences: subject, relation and object are words, and one entity goes by many "
            "mentions. Any mention of the right entity answers a question.",
            "Each triple asks for its object and for its subject. Other answers that the training, validation or test "
            "triples know do not count against a ranking. Triples that ask the same for the same mentions are one "
            "question, and the questions of one triple are resampled together.",
            "Whoever trains on triples that say an evaluated fact in other words measures memory: the published "
            "training data come with less (SIMPLE), more (BASIC) or most (THOROUGH) of that taken out.",
        ],
        rules="Say which training data your system learnt from: SIMPLE, BASIC or THOROUGH.",
        citation=(
            "Samuel Broscheit, Kiril Gashteovski, Yanjie Wang, Rainer Gemulla. Can We Predict New Facts with Open "
            "Knowledge Graph Embeddings? A Benchmark for Open Link Prediction. ACL 2020."
        ),
        source="The published files of OLPBENCH.",
        source_url="https://github.com/samuelbroscheit/open_link_prediction_benchmark",
        public=choices.public,
        splits=splits,
        phases=phases,
        reported=olpbench_reported.rows(hosts_test=hosts_test),
    )
