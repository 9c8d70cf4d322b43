"""From a benchmark's published files to a manifest that can be hosted: one module a published benchmark."""

from leaderboard.importers import fever, fever_symmetric, knowledgenet, own
from leaderboard.importers.choices import Choices, Imported, Importer
from leaderboard.importers.published import ImportFault

IMPORTERS: dict[str, Importer] = {
    "knowledgenet": knowledgenet.prepare,
    "fever": fever.prepare,
    "fever-symmetric": fever_symmetric.prepare,
    "own": own.prepare,
}

__all__ = ["IMPORTERS", "Choices", "ImportFault", "Imported", "Importer"]
