"""Importer of KnowledgeNet (Mesquita et al. 2019): folds 1 to 4 with facts, one hidden, and the inputs of fold 5."""

from __future__ import annotations

from pathlib import Path

import msgspec

from leaderboard.benchmarks.manifest import Manifest, SplitPart
from leaderboard.hosting.importers.choices import Choices, Imported, reported
from leaderboard.hosting.importers.published import GoldLine, Origins, PublishedFileError, demand, find, lines

WITH_FACTS = ("train.json", "train.jsonl", "gold_folds_1_to_4.jsonl")
WITHOUT_FACTS = ("test-no-facts.json", "test-no-facts.jsonl", "test_fold_5_without_facts.jsonl")
FOLDS = range(1, 6)


class Document(msgspec.Struct):
    """The used field of a published document: its fold, which selects the split."""

    fold: int


def prepare(published: Path, work: Path, choices: Choices) -> Imported:
    """Import the folds of the training file: `choices.hidden_fold` as hidden test split, other folds as public gold.

    Fold 5 becomes a split without gold, if its published inputs are there. Lines are unchanged.

    published: folder of the published files. work: folder for the files that the importer writes.
    """
    source = demand(published, WITH_FACTS)
    folds: dict[int, list[GoldLine]] = {}
    for number, line, document in lines(source, Document):
        if document.fold not in FOLDS:
            raise PublishedFileError(f"{source.name}:{number}: fold, found {document.fold}, expected 1 to 5")
        folds.setdefault(document.fold, []).append((line, source, number))
    hidden = choices.hidden_fold
    if hidden not in folds:
        raise PublishedFileError(
            f"{source.name}: found folds {sorted(folds)}, expected the hidden one, {hidden}, among them; choose "
            "another one with --hidden-fold"
        )
    choices.say(f"{source.name}: {', '.join(f'fold {fold}: {len(folds[fold]):,}' for fold in sorted(folds))} documents")
    origins = Origins()
    name = f"fold-{hidden}"
    splits = [choices.split(name, "test")]
    origins.write(work / f"{name}.jsonl", folds[hidden])
    seen = sorted(set(folds) - {hidden})
    if seen:
        splits.insert(0, choices.split("train", "train", gold_public=True))
        origins.write(work / "train.jsonl", [line for fold in seen for line in folds[fold]])
    blind = find(published, WITHOUT_FACTS)
    if blind is not None and 5 not in folds:
        splits.append(SplitPart(name="fold-5", kind="test", inputs="fold-5.jsonl"))
        origins.write(work / "fold-5.jsonl", [(line, blind, number) for number, line, _ in lines(blind, Document)])
    return Imported(manifest=_manifest(choices, splits, hidden, seen), origins=origins)


def _manifest(choices: Choices, splits: list[SplitPart], hidden: int, seen: list[int]) -> Manifest:
    train = f"Folds {', '.join(map(str, seen))} can be downloaded with their facts. " if seen else ""
    return Manifest(
        slug=choices.slug or "knowledgenet",
        title=choices.title or "KnowledgeNet",
        task="knowledge-base-population",
        summary="Find the facts that a text states about people and organisations, and link them to Wikidata.",
        description=[
            "Documents from the web and from encyclopedias, cut into passages. Each passage is annotated exhaustively "
            "for some of fifteen properties: every fact of these properties that the passage states is in the gold, "
            "with the offsets of its subject and object and, where there is one, their Wikidata entity.",
            f"{train}Systems are compared on fold {hidden}, whose facts are hidden here. The facts of the fifth fold "
            "have never been published, so the results of papers, which were measured on it, are listed separately.",
        ],
        rules="The facts of the training folds are public: say on which folds your system was trained.",
        licence="CC BY-SA 4.0 (annotations); texts as their sources state",
        citation=(
            "Filipe Mesquita, Matteo Cannaviccio, Jordan Schmidek, Paramita Mirza, Denilson Barbosa. KnowledgeNet: "
            "A Benchmark Dataset for Knowledge Base Population. EMNLP-IJCNLP 2019."
        ),
        source="The published files of diffbot/knowledge-net.",
        source_url="https://github.com/diffbot/knowledge-net",
        public=choices.public,
        splits=splits,
        phases=[choices.phase(slug=f"fold-{hidden}", title=f"Fold {hidden}", split=f"fold-{hidden}")],
        reported=reported("knowledgenet", hosted=hidden == 4),
    )
