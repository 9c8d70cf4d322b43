"""Requests for previews from the management pages. A preview is a run of a generator on raw files.

`run_generator` has the worker's side; `drafts` creates splits from a preview.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from evaluator.curation.generators.catalog import OFFERS, SEED_BELOW, Offer, generators_for, parse_form
from evaluator.jsonl.decompress import ReadLimits
from leaderboard.core import db_clock, validation
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages_dataset
from leaderboard.curation.actions import run_generator
from leaderboard.evaluation import sandbox_client
from leaderboard.models import ACTIVE, AuditEntry, Dataset, GeneratedFrom, Generation, RawFile, Reason, User
from leaderboard.work_queue.lease import cancel_rows

MAX_PREVIEWS = 10
"""Maximum number of unused previews of one dataset: a new request deletes the oldest ones beyond it."""


def begin(
    *,
    dataset: Dataset,
    generator: str,
    sources: Mapping[str, Sequence[RawFile]],
    parameters: Mapping[str, str],
    options: Mapping[str, str],
    seed: int | None,
    by: User,
) -> Generation:
    """Queue a preview and return it. The dataset's oldest unused previews beyond MAX_PREVIEWS are deleted.

    generator: its name. sources: the chosen raw files, by the name of the generator's source for which they are chosen.
    parameters: values as text, by the name of the generator's parameter; empty or missing: the default. options: the
    task options, by name, of the splits to create from the preview. seed: None: a random seed is chosen.
    Raises Refused: NOT_AN_ORGANISER; INVALID_VALUE for an invalid generator, parameter, file, option or seed; NOT_READY
    while another preview of the dataset is queued or running; TOO_LARGE for a file of more than `most_read` bytes.
    """
    check_manages_dataset(dataset, by)
    offer = _offer(dataset, generator)
    values = {
        parameter.name: str(parameters.get(parameter.name, "")).strip() or offer.default(parameter, dataset.task)
        for parameter in offer.parameters
    }
    _check_parameters(offer, values)
    validation.check_options(dataset.task, dict(options))
    files = _sources(offer, dataset, sources)
    if seed is None:
        seed = secrets.randbelow(SEED_BELOW)
    if not 0 <= seed < SEED_BELOW:
        raise Refused(
            Code.INVALID_VALUE, f"The seed is {seed}; expected a whole number of at most 18 digits, not negative."
        )
    at = timezone.now()
    with transaction.atomic():
        # Without the lock, simultaneous requests would start two previews, with two salts.
        Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
        if under_way(dataset) is not None:
            raise Refused(
                Code.NOT_READY,
                "Another preview of this dataset is in progress; wait for it, or cancel it.",
                heading="Another preview is in progress",
            )
        for old in forgotten_next(dataset):
            _delete(old, by)
        generation = Generation.objects.create(
            dataset=dataset,
            generator=offer.name,
            version=offer.generator.version,
            parameters=values,
            options=dict(options),
            seed=seed,
            salt=_salt(dataset),
            requested_by=by,
            queued_at=at,
            enqueued_at=db_clock.now(),
        )
        for index, (role, raw) in enumerate(files):
            GeneratedFrom.objects.create(generation=generation, raw=raw, role=role, index=index)
        details = {"generation": generation.pk, "generator": offer.name, "raw": [raw.sha256 for _, raw in files]}
        AuditEntry.record("generation.begun", dataset, by=by, **details)
        run_generator.WORK.enqueue(generation)
    return generation


def cancel(*, generation: Generation, by: User) -> None:
    """Cancel a preview that is queued or running; a worker's later report on the preview is ignored.

    Raises Refused: NOT_AN_ORGANISER; NOT_CANCELLABLE if the preview has already ended.
    """
    check_manages_dataset(generation.dataset, by)
    with transaction.atomic():
        if not cancel_rows(Generation.objects.filter(pk=generation.pk), Reason.WITHDRAWN):
            raise Refused(Code.NOT_CANCELLABLE, "The preview has already ended, so there is nothing to cancel.")
        AuditEntry.record("generation.cancelled", generation.dataset, by=by, generation=generation.pk)


def forget(*, generation: Generation, by: User) -> None:
    """Delete a preview.

    Raises Refused: NOT_AN_ORGANISER; NOT_READY for a preview that is queued or running, or from which splits were made.
    """
    check_manages_dataset(generation.dataset, by)
    with transaction.atomic():
        locked = Generation.objects.select_for_update().get(pk=generation.pk)
        why_not = "" if locked.is_over else "The preview is in progress; cancel it first."
        if locked.parts.exclude(split=None).exists():
            why_not = "Splits were made from this preview, so it cannot be deleted."
        if why_not:
            raise Refused(Code.IN_USE, why_not, heading="The preview was not deleted")
        _delete(locked, by)


def forgotten_next(dataset: Dataset) -> list[Generation]:
    """Return the previews that the next request for a preview will delete, the newest first.

    They are the oldest unused ones beyond MAX_PREVIEWS. Unused means that no split was made from the preview; previews
    that are queued or running are never deleted.
    """
    unused = dataset.generations.exclude(state__in=ACTIVE).exclude(parts__split__isnull=False)
    return list(unused.order_by("-queued_at", "-pk")[MAX_PREVIEWS - 1 :])


def is_forgotten(dataset: Dataset, pk: int) -> bool:
    """Return True if the audit trail records the deletion of the dataset's preview with the primary key `pk`."""
    entries = AuditEntry.objects.filter(action="generation.forgotten", subject=f"dataset:{dataset.pk}")
    return entries.filter(detail__generation=pk).exists()


def under_way(dataset: Dataset) -> Generation | None:
    """Return the dataset's preview that is queued or running; None if there is none."""
    return dataset.generations.filter(state__in=ACTIVE).first()


def _delete(generation: Generation, by: User) -> None:
    AuditEntry.record("generation.forgotten", generation.dataset, by=by, generation=generation.pk)
    generation.delete()


def _offer(dataset: Dataset, generator: str) -> Offer:
    offer = OFFERS.get(generator)
    if offer is None or offer not in generators_for(dataset.task):
        raise Refused(
            Code.INVALID_VALUE,
            f"The task {dataset.task} has no generator {generator[:60]!r}; "
            f"expected one of: {', '.join(known.name for known in generators_for(dataset.task)) or 'none'}.",
        )
    return offer


def _check_parameters(offer: Offer, values: Mapping[str, str]) -> None:
    _, errors = parse_form(offer, values)
    if errors:
        titles = {parameter.name: parameter.title for parameter in offer.parameters}
        raise Refused(Code.INVALID_VALUE, " ".join(f"{titles[name]} {error}." for name, error in errors.items()))


def _sources(offer: Offer, dataset: Dataset, sources: Mapping[str, Sequence[RawFile]]) -> list[tuple[str, RawFile]]:
    files = []
    for source in offer.sources:
        chosen = list(sources.get(source.name, ()))
        if source.required and not chosen:
            raise Refused(Code.NO_FILE, f"{source.title}: no file is chosen; expected one.")
        if len(chosen) > 1 and not source.several:
            raise Refused(Code.INVALID_VALUE, f"{source.title}: {len(chosen)} files are chosen; expected one.")
        files += [(source.name, raw) for raw in chosen]
    names = Counter(raw for _, raw in files)
    if twice := [raw.name for raw, n in names.items() if n > 1]:
        raise Refused(Code.INVALID_VALUE, f"{twice[0]} is chosen more than once; expected each file once.")
    if any(raw.dataset_id != dataset.pk for _, raw in files):
        raise Refused(Code.INVALID_VALUE, "A file of another dataset is chosen; expected files of this dataset.")
    limit = most_read(offer)
    if big := next((raw for _, raw in files if raw.bytes > limit), None):
        raise Refused(
            Code.TOO_LARGE,
            f"{big.name} has {big.bytes:,} bytes; {offer.title} reads at most {limit // 1_000_000} MB of one file.",
        )
    if len(files) > sandbox_client.MAX_FILES:
        raise Refused(
            Code.INVALID_VALUE, f"{len(files)} files are chosen; expected at most {sandbox_client.MAX_FILES}."
        )
    return files


def most_read(offer: Offer) -> int:
    """Return the maximum size in bytes of one raw file, as uploaded, for a generator.

    The maximum is smaller for a generator that holds a file in memory than for one that streams the file.
    """
    if offer.in_pieces:
        return int(settings.MAX_RAW_BYTES)
    return min(settings.MAX_RAW_BYTES, ReadLimits().file_bytes, sandbox_client.MAX_OUTPUT_BYTES)


def _salt(dataset: Dataset) -> str:
    """Return the salt that all previews of the dataset share; a random one for the first preview.

    With equal salts, equal raw files, parameters and seeds give equal ids.
    """
    existing = dataset.generations.exclude(salt="").order_by("pk").values_list("salt", flat=True).first()
    return existing or secrets.token_hex(16)
