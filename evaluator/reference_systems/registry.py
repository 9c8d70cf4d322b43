"""All reference systems, in the order of their display."""

from __future__ import annotations

from evaluator.reference_systems.base import System
from evaluator.reference_systems.fact_verification.claim_and_evidence import CLAIM_AND_EVIDENCE
from evaluator.reference_systems.fact_verification.claim_only import CLAIM_ONLY
from evaluator.reference_systems.graphs import embeddings, frequencies, knowledge_linker, path_ranking, paths
from evaluator.reference_systems.metric_correlation import rouge
from evaluator.reference_systems.texts import fact_accuracy, knowledge_net, relation_classifier

SYSTEMS: tuple[System, ...] = (
    *embeddings.SYSTEMS,
    *frequencies.SYSTEMS,
    *paths.SYSTEMS,
    *path_ranking.SYSTEMS,
    *knowledge_linker.SYSTEMS,
    CLAIM_ONLY,
    CLAIM_AND_EVIDENCE,
    *rouge.SYSTEMS,
    *knowledge_net.SYSTEMS,
    *relation_classifier.SYSTEMS,
    *fact_accuracy.SYSTEMS,
)


def systems_of(task: str) -> dict[str, System]:
    """Return name -> reference system, for the systems that make predictions for a task."""
    return {system.name: system for system in SYSTEMS if task in system.tasks}
