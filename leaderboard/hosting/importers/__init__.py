"""Importers, which turn a benchmark's published files into a manifest that can be hosted; one module per benchmark."""

from evaluator.tasks.registry import TASKS
from leaderboard.hosting.importers import buckle, fever, fever_symmetric, frank, gold, knowledgenet, olpbench, own
from leaderboard.hosting.importers.choices import Choices, Imported, Importer
from leaderboard.hosting.importers.published import PublishedFileError

IMPORTERS: dict[str, Importer] = {
    "knowledgenet": knowledgenet.prepare,
    "fever": fever.prepare,
    "fever-symmetric": fever_symmetric.prepare,
    "buckle": buckle.prepare,
    "olpbench": olpbench.prepare,
    "frank": frank.prepare,
    **{task: gold.of(task) for task in TASKS},
    "own": own.prepare,
}

__all__ = ["IMPORTERS", "Choices", "Imported", "Importer", "PublishedFileError"]
