"""Datasets: create and delete them, and check who manages them."""

from __future__ import annotations

from django.db import transaction

from leaderboard.core import validation
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_is_curator, check_manages_dataset
from leaderboard.core.storage import delete_after_commit
from leaderboard.models import AuditEntry, Dataset, GoldVersion, PublicPrivatePartition, User


@transaction.atomic
def create(
    *,
    slug: str,
    title: str,
    task: str,
    by: User,
    description: str = "",
    licence: str = "",
    citation: str = "",
    source_url: str = "",
) -> Dataset:
    """Create a dataset without splits. Curators only.

    slug: the dataset's name in URLs. task: the name of a task of the evaluator. Raises Refused: NOT_AN_ORGANISER
    unless `by` is a curator; INVALID_VALUE for an unknown task or an invalid value; NAME_TAKEN for a slug that another
    dataset has.
    """
    check_is_curator(by, to="create datasets")
    validation.check_task(task)
    texts = {"description": description, "licence": licence, "citation": citation, "source_url": source_url}
    dataset = Dataset(slug=slug, title=title, task=task, **texts)
    validation.check_texts(title=title, **texts)
    validation.check(dataset)
    dataset.save(force_insert=True)
    AuditEntry.record("dataset.created", dataset, by=by)
    return dataset


@transaction.atomic
def discard(*, dataset: Dataset, by: User) -> None:
    """Delete a dataset that no benchmark uses, with its splits, gold and files.

    Raises Refused: IN_USE if a benchmark uses it, NOT_AN_ORGANISER.
    """
    check_manages_dataset(dataset, by)
    if dataset.benchmarks.exists():
        raise Refused(
            Code.IN_USE,
            f"The dataset {dataset} is used by a benchmark; only a dataset without benchmarks can be deleted.",
            heading="The dataset was not deleted",
        )
    golds = GoldVersion.objects.filter(split__dataset=dataset)
    files = [gold.file for gold in golds] + [split.inputs for split in dataset.splits.exclude(inputs="")]
    files += [download.file for download in dataset.downloads.all()]
    files += [partition.file for partition in PublicPrivatePartition.objects.filter(gold__in=golds)]
    golds.delete()
    dataset.downloads.all().delete()
    dataset.splits.all().delete()
    AuditEntry.record("dataset.discarded", dataset, by=by, slug=dataset.slug)
    dataset.delete()
    for file in files:
        delete_after_commit(file)
