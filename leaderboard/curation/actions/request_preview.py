"""Splits from raw files: a generator is asked for at the desk, and what comes of it is a preview.

`generating` is the worker's side; `drafts` makes splits of a preview.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from evaluator.curation.generators.catalog import OFFERS, SEED_BELOW, Offer, filled, offered
from evaluator.jsonl.decompress import ReadLimits
from leaderboard.core import validation
from leaderboard.core.refusal import Code, Refused
from leaderboard.curation.actions import run_generator
from leaderboard.datasets.actions.datasets import check_manages
from leaderboard.evaluation import sandbox_client
from leaderboard.models import AuditEntry, Dataset, GeneratedFrom, Generation, RawFile, Reason, State, User

UNDER_WAY = (State.QUEUED, State.RUNNING)
KEPT_PREVIEWS = 10
"""Of one dataset: the oldest of more are forgotten when another is asked for."""


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
    """Ask for one. sources: raw files by what they are to the generator. seed: None draws one.

    Raises Refused: NOT_AN_ORGANISER; INVALID_NAME for a generator, parameter, file, option or seed that does not fit.
    """
    check_manages(dataset, by)
    offer = _offer(dataset, generator)
    given = {
        one.name: str(parameters.get(one.name, "")).strip() or offer.default(one, dataset.task)
        for one in offer.parameters
    }
    _check_parameters(offer, given)
    validation.check_options(dataset.task, dict(options))
    files = _sources(offer, dataset, sources)
    if seed is None:
        seed = secrets.randbelow(SEED_BELOW)
    if not 0 <= seed < SEED_BELOW:
        raise Refused(Code.INVALID_NAME, f"The seed is {seed}; expected a whole number of at most 18 digits.")
    at = timezone.now()
    with transaction.atomic():
        if under_way(dataset) is not None:
            raise Refused(
                Code.NOT_READY,
                "Another preview of this dataset is being made; wait for it, or cancel it.",
                heading="A preview is under way already",
            )
        for old in forgotten_next(dataset):
            _forget(old, by)
        made = Generation.objects.create(
            dataset=dataset,
            generator=offer.name,
            version=offer.generator.version,
            parameters=given,
            options=dict(options),
            seed=seed,
            salt=_salt(dataset),
            requested_by=by,
            queued_at=at,
            rung_at=at,
        )
        for place, (role, raw) in enumerate(files):
            GeneratedFrom.objects.create(generation=made, raw=raw, role=role, place=place)
        told = {"generation": made.pk, "generator": offer.name, "raw": [raw.sha256 for _, raw in files]}
        AuditEntry.record("generation.begun", dataset, by=by, **told)
        run_generator.WORK.enqueue(made)
    return made


def cancel(*, generation: Generation, by: User) -> None:
    """End it where it is; what a worker still says of it is not heard. Raises Refused where it is over already."""
    check_manages(generation.dataset, by)
    with transaction.atomic():
        ended = Generation.objects.filter(pk=generation.pk, state__in=UNDER_WAY).update(
            state=State.CANCELLED, reason=Reason.WITHDRAWN, lease_until=None, finished_at=timezone.now()
        )
        if not ended:
            raise Refused(Code.NOT_CANCELLABLE, "It is over already.")
        AuditEntry.record("generation.cancelled", generation.dataset, by=by, generation=generation.pk)


def forget(*, generation: Generation, by: User) -> None:
    """Remove a preview. Raises Refused for one that is under way, or that splits were made of."""
    check_manages(generation.dataset, by)
    with transaction.atomic():
        held = Generation.objects.select_for_update().get(pk=generation.pk)
        if not held.is_over or held.parts.exclude(split=None).exists():
            raise Refused(
                Code.NOT_READY, "It is under way, or splits were made of it: it stays.", heading="The preview stays"
            )
        _forget(held, by)


def forgotten_next(dataset: Dataset) -> list[Generation]:
    """The previews that make way when another is asked for, whatever became of them; none that splits were made of."""
    unused = dataset.generations.exclude(state__in=UNDER_WAY).exclude(parts__split__isnull=False)
    return list(unused.order_by("-queued_at", "-pk")[KEPT_PREVIEWS - 1 :])


def is_forgotten(dataset: Dataset, pk: int) -> bool:
    """Whether there was a preview of that number, as the audit trail has it."""
    gone = AuditEntry.objects.filter(action="generation.forgotten", subject=f"dataset:{dataset.pk}")
    return gone.filter(detail__generation=pk).exists()


def under_way(dataset: Dataset) -> Generation | None:
    """The one preview that is being made, if any."""
    return dataset.generations.filter(state__in=UNDER_WAY).first()


def _forget(generation: Generation, by: User) -> None:
    AuditEntry.record("generation.forgotten", generation.dataset, by=by, generation=generation.pk)
    generation.delete()


def _offer(dataset: Dataset, generator: str) -> Offer:
    offer = OFFERS.get(generator)
    if offer is None or offer not in offered(dataset.task):
        raise Refused(Code.INVALID_NAME, f"There is no such generator of {dataset.task}.")
    return offer


def _check_parameters(offer: Offer, given: Mapping[str, str]) -> None:
    _, wrong = filled(offer, given)
    if wrong:
        titles = {one.name: one.title for one in offer.parameters}
        raise Refused(Code.INVALID_NAME, " ".join(f"{titles[name]} {what}." for name, what in wrong.items()))


def _sources(offer: Offer, dataset: Dataset, sources: Mapping[str, Sequence[RawFile]]) -> list[tuple[str, RawFile]]:
    files = []
    for source in offer.sources:
        given = list(sources.get(source.name, ()))
        if source.required and not given:
            raise Refused(Code.INVALID_NAME, f"{source.title}: no file is chosen; expected one.")
        if len(given) > 1 and not source.several:
            raise Refused(Code.INVALID_NAME, f"{source.title}: {len(given)} files are chosen; expected one.")
        files += [(source.name, raw) for raw in given]
    if len({raw.pk for _, raw in files}) < len(files):
        raise Refused(Code.INVALID_NAME, "One file is chosen twice; each can be one thing only.")
    if any(raw.dataset_id != dataset.pk for _, raw in files):
        raise Refused(Code.INVALID_NAME, "A file of another dataset is chosen.")
    most = most_read(offer)
    if big := next((raw for _, raw in files if raw.bytes > most), None):
        raise Refused(
            Code.TOO_LARGE,
            f"{big.name} has {big.bytes:,} bytes; {offer.title} takes at most {most // 1_000_000} MB of one file.",
        )
    if len(files) > sandbox_client.MOST_TABLES:
        raise Refused(
            Code.INVALID_NAME, f"{len(files)} files are chosen; expected at most {sandbox_client.MOST_TABLES}."
        )
    return files


def most_read(offer: Offer) -> int:
    """Bytes of one raw file, unpacked: what reads gold holds all of it, and writes as much again."""
    if offer.in_pieces:
        return int(settings.MAX_RAW_BYTES)
    return min(settings.MAX_RAW_BYTES, ReadLimits().file_bytes, sandbox_client.MOST_MADE)


def _salt(dataset: Dataset) -> str:
    """One a dataset, drawn once: the same parameters and seed make the same ids again."""
    there = dataset.generations.exclude(salt="").order_by("pk").values_list("salt", flat=True).first()
    return there or secrets.token_hex(16)
