"""Importer of FEVER (Thorne et al. 2018): claims with evidence sets. Only the training claims have public gold."""

from __future__ import annotations

from pathlib import Path

import msgspec

from leaderboard.benchmarks.manifest import Manifest, PhasePart, SplitPart
from leaderboard.hosting.importers.choices import Choices, Imported, PublishedPart, reported
from leaderboard.hosting.importers.published import Origins, find, lines, missing
from leaderboard.hosting.importers.salted import Salt, salted

MAX_EVIDENCE = "5"


PARTS = (
    PublishedPart("shared-task-dev", "Shared task development set", "dev", ("shared_task_dev.jsonl",)),
    PublishedPart("paper-dev", "Paper development set", "dev", ("paper_dev.jsonl", "gold_paper_dev.jsonl")),
    PublishedPart("paper-test", "Paper test set", "test", ("paper_test.jsonl",)),
    PublishedPart("train", "Training set", "train", ("train.jsonl",), gold_public=True),
)


class Claim(msgspec.Struct):
    id: int | str


def prepare(published: Path, work: Path, choices: Choices) -> Imported:
    """Import each of FEVER's published files as a split.

    The lines of a file and their order are unchanged. With `choices.salt_ids`, instead, the lines get salted ids and
    are sorted by these ids.

    published: folder of the published files. work: folder for the files that the importer writes.
    """
    salt = Salt(choices.salt) if choices.salt_ids else None
    origins, splits, phases = Origins(), [], []
    for part in PARTS:
        source = find(published, part.names)
        if source is None:
            continue
        content = [
            (salted(line, salt) if salt is not None else line, source, number)
            for number, line, _ in lines(source, Claim)
        ]
        if salt is not None:
            content.sort(key=lambda item: item[0])  # each line begins with its salted id
        choices.say(f"{source.name}: {len(content):,} claims")
        origins.write(work / f"{part.split}.jsonl", content)
        splits.append(choices.split(part.split, part.kind, gold_public=part.gold_public))
        if not part.gold_public:
            options = {"max_evidence": MAX_EVIDENCE}
            phases.append(choices.phase(slug=part.split, title=part.title, split=part.split, options=options))
    if not phases:
        raise missing(published, [name for part in PARTS if not part.gold_public for name in part.names])
    ids = salt.ids if salt is not None else {}
    return Imported(manifest=_manifest(choices, splits, phases), origins=origins, id_map=ids)


def _manifest(choices: Choices, splits: list[SplitPart], phases: list[PhasePart]) -> Manifest:
    return Manifest(
        slug=choices.slug or "fever",
        title=choices.title or "FEVER",
        task="fact-verification",
        summary="Judge claims by sentences of Wikipedia: supported, refuted or not enough information, with evidence.",
        description=[
            "Claims were written from sentences of Wikipedia and then altered; other annotators judged them without "
            "seeing the sentence that they came from. A claim predicted as supported or refuted counts as right only "
            f"with a complete set of evidence sentences among the first {MAX_EVIDENCE} predicted ones: that is the "
            "FEVER score, which ranks here.",
            "Predicted evidence is compared with the annotators' sets by page name and sentence number.",
        ],
        rules="The labels of these claims are published elsewhere: say on which data your system was trained.",
        licence="CC-BY-SA-3.0",
        citation=(
            "James Thorne, Andreas Vlachos, Christos Christodoulopoulos, Arpit Mittal. FEVER: a Large-scale Dataset "
            "for Fact Extraction and VERification. NAACL-HLT 2018."
        ),
        source="The published files of FEVER 1.0.",
        source_url="https://fever.ai/dataset/fever.html",
        public=choices.public,
        splits=splits,
        phases=phases,
        reported=reported("fever"),
    )
