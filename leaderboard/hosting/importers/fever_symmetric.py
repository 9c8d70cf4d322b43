"""Importer of FEVER Symmetric (Schuster et al. 2019): groups of four pairs of claim and evidence, with salted ids.

Published ids reveal a pair's role in its group: a generated pair has the id of the group's original pair followed by
0000002, 0000003 or 0000004.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from evaluator.tasks.fact_verification.symmetric import check_symmetric
from leaderboard.benchmarks.manifest import Manifest, PhasePart, SplitPart
from leaderboard.hosting.importers.choices import Choices, Imported, PublishedPart, reported
from leaderboard.hosting.importers.published import Origins, PublishedFileError, find, leak, lines, missing
from leaderboard.hosting.importers.salted import Salt

MEMBER = re.compile(r"(.+)000000([234])")
LABELS = ("SUPPORTS", "REFUTES")
FULL = ("fever_symmetric_full.jsonl",)
GENERATED = ("fever_symmetric_generated.jsonl",)


# The benchmark's page opens with the last phase. It is version 0.1, to which the paper's results belong.
PARTS = (
    PublishedPart("v0-2-dev", "Version 0.2, development", "dev", ("fever_symmetric_dev.jsonl",)),
    PublishedPart("v0-2-test", "Version 0.2, test", "test", ("fever_symmetric_test.jsonl",)),
    PublishedPart("v0-1", "Version 0.1, as in the paper", "test", FULL),
)


class Pair(msgspec.Struct):
    """A line of a published file. The evidence is in `evidence_sentence` (version 0.1) or `evidence` (version 0.2)."""

    id: str
    claim: str
    label: str
    evidence_sentence: str = ""
    evidence: str = ""

    @property
    def sentence(self) -> str:
        return self.evidence_sentence or self.evidence


def prepare(published: Path, work: Path, choices: Choices) -> Imported:
    """Import each published file as a split with salted ids and group names, sorted by salted id.

    published: folder of the published files. work: folder for the files that the importer writes.
    """
    salt, origins, splits, phases = Salt(choices.salt), Origins(), [], []
    for part in PARTS:
        source = find(published, part.names)
        if source is None:
            continue
        pairs = [(number, pair) for number, _, pair in lines(source, Pair)]
        golds = gold_lines(source, pairs)
        choices.say(f"{source.name}: {len(pairs):,} pairs in {len({gold['group'] for gold in golds}):,} groups")
        content = [
            (msgspec.json.encode(_salted(gold, salt)), source, number)
            for (number, _), gold in zip(pairs, golds, strict=True)
        ]
        content.sort(key=lambda item: item[0])  # each line begins with its salted id
        origins.write(work / f"{part.split}.jsonl", content)
        splits.append(choices.split(part.split, part.kind))
        phases.append(choices.phase(slug=part.split, title=part.title, split=part.split))
    _check_nothing_leaks(splits, work)
    _check_generated(published, hosts_v01=any(split.name == "v0-1" for split in splits))
    if not splits:
        raise missing(published, [name for part in PARTS for name in part.names])
    return Imported(manifest=_manifest(choices, splits, phases), origins=origins, id_map=dict(salt.ids))


def gold_lines(source: Path, pairs: list[tuple[int, Pair]]) -> list[dict[str, Any]]:
    """Return the pairs of a file as gold lines (not salted), in the file's order.

    pairs: (line number, pair). Raises PublishedFileError for an invalid pair, with its line, and if the gold is not a
    symmetric set: this is checked before ids are salted, so that messages name the published ids.
    """
    ids = {pair.id for _, pair in pairs}
    golds = []
    for number, pair in pairs:
        location = f"{source.name}:{number}"
        if not pair.sentence:
            raise PublishedFileError(f"{location}: found no evidence sentence, expected evidence_sentence or evidence")
        if pair.label not in LABELS:
            raise PublishedFileError(f"{location}: label, found {pair.label!r}, expected {' or '.join(LABELS)}")
        member = MEMBER.fullmatch(pair.id)
        if member and member[1] not in ids:
            raise PublishedFileError(
                f"{location}: id {pair.id} names member {member[2]} of group {member[1]}, expected a line with the "
                f"original pair {member[1]} too"
            )
        golds.append(
            {
                "id": pair.id,
                "claim": pair.claim,
                "evidence_text": pair.sentence,
                "label": pair.label,
                "group": member[1] if member else pair.id,
                "slices": {"origin": "generated" if member else "original"},
            }
        )
    problems = check_symmetric(golds)
    if problems:
        raise PublishedFileError("\n".join(f"{source.name}: {problem}" for problem in problems[:100]))
    return golds


def _salted(gold: dict[str, Any], salt: Salt) -> dict[str, Any]:
    return {**gold, "id": salt.id(gold["id"]), "group": salt.group(gold["group"])}


def _check_nothing_leaks(splits: list[SplitPart], work: Path) -> None:
    """Raise PublishedFileError if public gold of one split reveals answers of a hidden split.

    The published versions share pairs, which have the same ids in all of them. work: folder of the written gold files.
    """
    ids = {split.name: {pair.id for _, _, pair in lines(work / split.gold, Pair)} for split in splits}
    for public in splits:
        for hidden in splits:
            shared = len(ids[public.name] & ids[hidden.name])
            if public.gold_public and not hidden.gold_public and shared:
                raise leak(public.name, hidden.name, shared)


def _check_generated(published: Path, *, hosts_v01: bool) -> None:
    """Check that the published file with only the generated pairs, if there is one, agrees with the file of all pairs.

    The file of generated pairs does not become a split, because its groups lack their original pairs. hosts_v01: True
    if the file of all pairs (version 0.1) is imported. Raises PublishedFileError if a pair differs or if the file of
    all pairs is not imported.
    """
    alone = find(published, GENERATED)
    full = find(published, FULL)
    if alone is None:
        return
    if full is None or not hosts_v01:
        raise PublishedFileError(
            f"{alone.name}: its groups lack their originals (pairs that are not generated); expected {FULL[0]} in the "
            "same folder"
        )
    known = {pair.id: pair for _, _, pair in lines(full, Pair)}
    for number, _, pair in lines(alone, Pair):
        if known.get(pair.id) != pair:
            found = f"differs from the one in {full.name}" if pair.id in known else f"is not in {full.name}"
            raise PublishedFileError(
                f"{alone.name}:{number}: pair {pair.id} {found}; expected the same pair in both files"
            )


def _manifest(choices: Choices, splits: list[SplitPart], phases: list[PhasePart]) -> Manifest:
    return Manifest(
        slug=choices.slug or "fever-symmetric",
        title=choices.title or "FEVER Symmetric",
        task="fact-verification",
        summary="Judge a claim by a given sentence, on pairs where the claim alone reveals nothing about the answer.",
        description=[
            "Each original pair of claim and evidence sentence comes with three written ones: the claim with evidence "
            "that contradicts it, and a contrary claim with each of the two sentences. So every claim and every "
            "sentence is in one supported and in one refuted pair, and a system that uses only one of the two has an "
            "accuracy of one half.",
            "The four pairs of a group are not independent, so intervals resample groups. Versions 0.1 and 0.2 share "
            "many pairs, so the answers of one reveal answers of the other.",
        ],
        rules="Use nothing but claim and sentence. Public ids are salted, and pairs are sorted by them.",
        licence="CC-BY-SA-3.0",
        citation=(
            "Tal Schuster, Darsh J Shah, Yun Jie Serene Yeo, Daniel Filizzola, Enrico Santus, Regina Barzilay. "
            "Towards Debiasing Fact Verification Models. EMNLP-IJCNLP 2019."
        ),
        source="The published files of TalSchuster/FeverSymmetric.",
        source_url="https://github.com/TalSchuster/FeverSymmetric",
        public=choices.public,
        splits=splits,
        phases=phases,
        reported=reported("fever-symmetric", hosted=any(split.name == "v0-1" for split in splits)),
    )
