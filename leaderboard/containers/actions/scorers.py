"""Custom scorers: add one with its measures, and attach it to phases to score them instead of the benchmark's task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import Max

from evaluator.custom_scorer.measures import check_declaration
from evaluator.errors import UsageError
from leaderboard.containers.actions import engine, image_files, images
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages
from leaderboard.core.uploads import sha256_of
from leaderboard.evaluation import container_limits
from leaderboard.models import AuditEntry, Benchmark, Image, Phase, Scorer, User
from leaderboard.scoring.actions import rescoring


@dataclass(frozen=True, kw_only=True)
class Declared:
    """What organisers declare of a scorer image.

    measures: dicts with the keys name, title, doc, lower, upper and higher_is_better; lower and upper may be None.
    primary: name of the measure that ranks systems.
    reason: why the scorer is added; public, not empty.
    """

    measures: list[dict[str, Any]]
    primary: str
    reason: str

    def check(self) -> None:
        """Raise Refused INVALID_VALUE unless the measures are valid and one is named `primary`."""
        try:
            check_declaration(self.measures, self.primary)
        except UsageError as error:
            raise Refused(Code.INVALID_VALUE, f"The measures are not valid: {error}.") from error


@transaction.atomic
def add(*, benchmark: Benchmark, image: Image, declared: Declared, by: User) -> Scorer:
    """Add the benchmark's next custom scorer. It scores no phase until it is attached to one.

    Raises Refused: NOT_AN_ORGANISER, INVALID_VALUE for invalid measures, INVALID_REASON, UPLOAD_GONE if the archive was
    deleted.
    """
    check_manages(benchmark, by)
    declared.check()
    if not declared.reason.strip():
        raise Refused(Code.INVALID_REASON, "The reason is empty; explain why this scorer is added.")
    # Concurrent requests wait for this lock, so that each scorer gets its own number.
    Benchmark.objects.select_for_update().get(pk=benchmark.pk)
    image_files.check_stored(image)
    last = benchmark.scorers.aggregate(last=Max("number"))["last"] or 0
    scorer = Scorer.objects.create(
        benchmark=benchmark,
        number=last + 1,
        image=image,
        measures=declared.measures,
        primary=declared.primary,
        reason=declared.reason,
        created_by=by,
    )
    AuditEntry.record("scorer.added", scorer, by=by, number=scorer.number, image=str(image))
    return scorer


def add_archive(*, benchmark: Benchmark, file: UploadedFile, declared: Declared, by: User) -> Scorer:
    """Add a custom scorer from an archive that was sent in one request.

    Raises Refused as `add` and `ContainerLimits.check_archive` do.
    """
    check_manages(benchmark, by)
    declared.check()
    container_limits.of_scorer().check_archive(file.size or 0)
    image = image_files.get_or_store(archive=file, sha256=sha256_of(file))
    return add(benchmark=benchmark, image=image, declared=declared, by=by)


def add_reference(*, benchmark: Benchmark, reference: str, declared: Declared, by: User) -> Scorer:
    """Add a custom scorer from an image in an allowed registry, `registry/name@sha256:...`.

    Raises Refused as `add` does, and INVALID_REFERENCE for a reference that is malformed or not allowed.
    """
    check_manages(benchmark, by)
    declared.check()
    if not settings.REGISTRIES:
        raise Refused(
            Code.INVALID_REFERENCE, "This server allows no registry; upload the archive written by docker save instead."
        )
    try:
        checked = engine.checked_reference(reference)
    except engine.ImageError as error:
        raise Refused(Code.INVALID_REFERENCE, f"The reference cannot be used: {error}.") from error
    return add(benchmark=benchmark, image=images.get_or_create(checked), declared=declared, by=by)


@transaction.atomic
def attach(*, phase: Phase, scorer: Scorer | None, by: User) -> int:
    """Set the custom scorer of a phase; return the number of predictions queued for rescoring.

    scorer: None lets the benchmark's task score the phase. Once the phase has submissions, only a scorer with a higher
    number may replace its scorer. The task may not replace a scorer then, and a scorer may not replace the task,
    because the phase's boards have the measures of one of them. Raises Refused: NOT_AN_ORGANISER, INVALID_VALUE for
    another benchmark's scorer, and SCORER_DOES_NOT_FIT for one that the phase cannot use.
    """
    check_manages(phase.benchmark, by)
    phase = rescoring.held(phase)
    if scorer == phase.scorer:
        return 0
    if scorer is not None:
        _check_fits(phase, scorer)
    if phase.submissions.exists():
        _check_follows(phase, scorer)
    Phase.objects.filter(pk=phase.pk).update(scorer=scorer)
    AuditEntry.record("phase.scorer", phase, by=by, scorer=scorer.number if scorer else None)
    return rescoring.begin(phase=phase, by=by)


def _check_fits(phase: Phase, scorer: Scorer) -> None:
    if scorer.benchmark_id != phase.benchmark_id:
        raise Refused(Code.INVALID_VALUE, "The scorer belongs to another benchmark; expected one of this benchmark.")
    if phase.subset:
        raise Refused(
            Code.SCORER_DOES_NOT_FIT,
            "The phase scores only the public or the private groups of its gold, which scorer images do not support.",
        )
    primary = next(measure for measure in scorer.measures if measure["name"] == scorer.primary)
    if phase.disclosure == Phase.Disclosure.LADDER and None in (primary["lower"], primary["upper"]):
        raise Refused(
            Code.SCORER_DOES_NOT_FIT,
            f"The phase's disclosure policy is the ladder, and the scorer's ranking measure {scorer.primary} lacks a "
            "lower or upper bound: without both there is no step, and no score would ever be shown. Add a scorer that "
            "declares both bounds.",
        )


def _check_follows(phase: Phase, scorer: Scorer | None) -> None:
    if phase.scorer is None or scorer is None:
        raise Refused(
            Code.SCORER_DOES_NOT_FIT,
            "The phase has submissions, so it can no longer change between its task and a scorer image. Create another "
            "phase instead.",
        )
    if scorer.number < phase.scorer.number:
        raise Refused(
            Code.SCORER_DOES_NOT_FIT,
            f"The phase has submissions and scorer {phase.scorer.number}; scorer {scorer.number} is an earlier one, "
            "expected a later one. To go back, add the earlier image as the next scorer, or cancel the rescoring "
            "while it is in progress.",
        )
