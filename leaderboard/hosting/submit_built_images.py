"""Submission of the systems of a manifest as container images, which are built, uploaded and submitted like a user's.

Failed builds and executions do not stop the command `seed`: they are reported, and the next `seed` tries them again.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db.models import F

from leaderboard.benchmarks.manifest import ManifestError
from leaderboard.containers.actions import image_uploads
from leaderboard.core.refusal import Refused
from leaderboard.hosting import build_image
from leaderboard.hosting.patience import Patience
from leaderboard.models import ACTIVE, Phase, Prediction, Release, Run, State, Submission, System, User
from leaderboard.submissions.actions.submit import Entry
from leaderboard.work_queue import worker_status

Say = Callable[[str], None]
LOOK_EVERY = 0.2


@dataclass(frozen=True, kw_only=True)
class ImageToBuild:
    """A system whose image is to be built and submitted.

    name: of the system. source: folder of its Dockerfile. benchmark: folder of the training data. team: name of its
    team. track: name of the phase's track; empty if there are none. by: the user who submits. entrant: function that
    gets or creates the system's row, called once the image is uploaded.
    """

    name: str
    source: Path
    benchmark: Path
    phase: Phase
    team: str
    track: str
    by: User
    entrant: Callable[[], System]

    def __str__(self) -> str:
        return f"{self.phase.benchmark.slug}: {self.name}"

    @property
    def note(self) -> str:
        return f"Built from {self.source.name}, sources {build_image.sources(self.source)}."

    @property
    def existing(self) -> Submission | None:
        """An earlier submission of an image built from the same sources that has not failed; None if there is none.

        Submissions are compared by the digest of the sources in their note, since each build gives another archive.
        """
        same = Submission.objects.filter(
            phase=self.phase,
            system__name=self.name,
            system__team__name__iexact=self.team,
            kind=Submission.Kind.IMAGE,
            note=self.note,
        )
        ended = (State.REJECTED, State.FAILED, State.CANCELLED)
        return same.exclude(predictions__state__in=ended).exclude(predictions__runs__state=State.FAILED).first()


def source_of(benchmark: Path, image: str) -> Path:
    """Return the absolute path of the folder that has a system's Dockerfile.

    benchmark: the manifest's folder. image: the system's folder as the manifest names it, relative to `benchmark`.
    Raises ManifestError if the folder has no Dockerfile, or is not inside the parent folder of `benchmark`.
    """
    source = (benchmark / image).resolve()
    if not source.is_relative_to(benchmark.parent.resolve()):
        raise ManifestError(f"manifest: {image!r} is outside {benchmark.parent}, expected a folder inside it")
    if not (source / "Dockerfile").is_file():
        raise ManifestError(f"manifest: {image} has no Dockerfile; expected the folder of a system, which has one")
    return source


def submissions(images: Sequence[ImageToBuild], say: Say) -> Iterator[Submission]:
    """Yield a submission of each system: first the earlier ones, then new ones of the systems without an earlier one.

    A system is built and submitted when the caller asks for its submission. A system that cannot be built or submitted
    is skipped. say: called with each line of progress, also for skipped systems.
    """
    earlier = {system: system.existing for system in images}
    yield from (submission for submission in earlier.values() if submission is not None)
    missing = [system for system, submission in earlier.items() if submission is None]
    if not missing:
        return
    try:
        _check_engine(say)
    except build_image.CannotBuildError as error:
        say(f"skipped, because they are container images: {'; '.join(map(str, missing))}. Reason: {error}")
        return
    reference_systems = [system for system in missing if build_image.is_reference_system(system.source)]
    if reference_systems:
        say(f"building {build_image.BASE}, the base image of the reference systems")
        try:
            build_image.build_reference_base()
        except build_image.CannotBuildError as error:
            names = "; ".join(map(str, reference_systems))
            say(f"skipped, because their base cannot be built: {names}. Reason: {error}")
            missing = [system for system in missing if system not in reference_systems]
    for system in missing:
        try:
            submission = _submit(system)
        except (build_image.CannotBuildError, Refused) as error:
            say(f"{system}: skipped. {error}")
        else:
            say(f"{system}: built and submitted as a container image")
            yield submission


def _check_engine(say: Say) -> None:
    """Raise CannotBuildError unless images can be built and a container worker is ready.

    If no worker is ready, wait long enough for the first status report of one that was just started.
    """
    if not settings.SYSTEMS:
        raise build_image.CannotBuildError(worker_status.of().why_not)
    build_image.check_ready(say)
    deadline = time.monotonic() + 2 * settings.SWEEP_SECONDS + 5
    while not worker_status.of().ready:
        if time.monotonic() > deadline:
            raise build_image.CannotBuildError(worker_status.of().why_not)
        time.sleep(LOOK_EVERY)


def _submit(system: ImageToBuild) -> Submission:
    with (
        build_image.built_archive(system=system.source, benchmark=system.benchmark) as archive,
        archive.open("rb") as file,
    ):
        size = archive.stat().st_size
        upload = image_uploads.begin(phase=system.phase, by=system.by, name=archive.name, size=size, track=system.track)
        try:
            while chunk := file.read(image_uploads.CHUNK_BYTES):
                image_uploads.add(upload=upload, offset=upload.received, chunk=chunk)
            entry = Entry(system=system.entrant(), by=system.by, track=system.track, note=system.note)
            return image_uploads.finish(upload=upload, entry=entry)
        except BaseException:
            image_uploads.discard(upload)
            raise


def wait(submitted: Sequence[Submission], seconds: float, say: Say) -> None:
    """Wait until the submissions' containers and the scoring of their output have ended; report failures with `say`.

    Waiting ends after `seconds` in which no background work has moved.
    """
    predictions = Prediction.objects.filter(submission__in=submitted)
    runs = Run.objects.filter(prediction__submission__in=submitted)
    unranked = Release.objects.filter(submission__in=submitted, sequence__gt=F("phase__ranked_sequence"))
    patience = Patience(seconds)
    while True:
        states = Counter(predictions.values_list("state", flat=True))
        stages = Counter(runs.values_list("state", flat=True)) + Counter(predictions.values_list("stage", flat=True))
        waiting = sum(counts[state] for counts in (states, stages) for state in ACTIVE)
        waiting += unranked.count()  # a board includes a release in a transaction of its own
        if not waiting:
            break
        if patience.is_over():
            say(f"{waiting} container images are not scored yet; they continue without this command")
            break
        time.sleep(LOOK_EVERY)
    for prediction in predictions.exclude(state__in=(*ACTIVE, State.DONE)):
        say(f"{prediction.submission.system}: {prediction.state}, {prediction.get_reason_display()}")
    for run in runs.exclude(state__in=(*ACTIVE, State.DONE)):
        say(f"{run.prediction.submission.system}: {run.state}, {run.get_reason_display()}")
