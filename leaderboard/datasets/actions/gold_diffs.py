"""Item-by-item comparison of a pending correction with the gold version that it corrects, by an evaluation worker."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import msgspec
from django.db import transaction
from django.db.models.fields.files import FieldFile

from evaluator.jobs.gold_diff import GoldDifferenceReport, ItemRow
from leaderboard.core.storage import check_digest, opened
from leaderboard.evaluation import sandbox_client
from leaderboard.evaluation.report_checks import ReportError
from leaderboard.models import ChangedItem, Correction, Reason, State
from leaderboard.work_queue.lease import Lease
from leaderboard.work_queue.work import NotRetryableError, Urgency, Work

WAITING = Correction.objects.select_related("base__split__dataset", "split__dataset")
_BATCH_SIZE = 1000


def _compare(lease: Lease[Correction]) -> None:
    row = lease.row
    with opened(row.base.file) as before, opened(row.file) as after:
        check_digest(before, row.base.sha256)
        check_digest(after, row.sha256)
        answer = sandbox_client.gold_difference(
            {"before": before, "after": after},
            task=row.split.dataset.task,
            options=row.split.options,
            before_name=_name("before", row.base.file),
            after_name=_name("after", row.file),
        )
    if not answer.ok:
        raise NotRetryableError(answer.reason or Reason.BAD_GOLD)
    try:
        counts = answer.read(GoldDifferenceReport).counts
        items = list(_items(answer.attachment))
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise ReportError(f"the report of differences is malformed: {error}") from error
    if len(items) != counts.n_changed:
        raise ReportError(
            f"the report of differences lists {len(items)} changed items, expected {counts.n_changed} as in its counts"
        )
    with transaction.atomic():
        lease.finish(state=State.DONE, counts=msgspec.to_builtins(counts))
        rows = (_row(row, index, item) for index, item in enumerate(items))
        while batch := list(itertools.islice(rows, _BATCH_SIZE)):
            ChangedItem.objects.bulk_create(batch)


def _name(side: str, file: FieldFile) -> str:
    """Return the name that stands for a file in messages; one that ends in .gz is compressed."""
    return f"{side}.jsonl{'.gz' if str(file.name).endswith('.gz') else ''}"


def _items(attachment: bytes) -> Iterator[ItemRow]:
    decode = msgspec.json.Decoder(ItemRow).decode
    yield from map(decode, attachment.splitlines())


def _row(correction: Correction, index: int, item: ItemRow) -> ChangedItem:
    return ChangedItem(
        correction=correction,
        index=index,
        item=msgspec.json.encode(item.id).decode(),
        line=item.line,
        kinds=f"|{'|'.join(item.kinds)}|",
        changes=msgspec.to_builtins(item.changes),
    )


WORK = Work(name="diff_gold", rows=WAITING, do=_compare, urgency=Urgency.PAGE)
