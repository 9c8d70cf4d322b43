"""`manage.py seed`: create the demonstration's users, benchmarks and submissions, which are scored as usual."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from leaderboard.accounts.actions import teams
from leaderboard.benchmarks import manifest
from leaderboard.core.refusal import Refused
from leaderboard.core.uploads import sha256_of
from leaderboard.hosting import audit_demonstrations, host, submit_built_images
from leaderboard.hosting.patience import Patience
from leaderboard.management.base import BaseCommand
from leaderboard.models import Benchmark, Membership, Phase, Run, State, Submission, System, Team, User
from leaderboard.operations import demo
from leaderboard.submissions.actions import submit as submissions

LOOK_EVERY = 0.2


class Command(BaseCommand):
    help = (
        "Create the demonstration's accounts, host the benchmarks in fixtures/ and submit their baselines. "
        "The sandbox server and a worker must be running. If a container engine responds, the reference systems "
        "in fixtures/systems/ are built and submitted too. Existing rows are not changed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--fixtures", type=Path, default=settings.ROOT / "fixtures", help="default: %(default)s")
        parser.add_argument(
            "--wait-seconds",
            type=float,
            default=300,
            help="time to wait while no background work moves; 0: do not wait",
        )
        parser.add_argument(
            "--audits",
            action="store_true",
            help="audit the hidden splits of the demonstration that is seeded already, and publish the reports",
        )
        parser.add_argument(
            "--systems",
            action="store_true",
            help="build and submit the remaining systems of the demonstration that is seeded already, one at a time",
        )
        parser.add_argument("--no-images", action="store_true", help="skip systems that are container images")

    def handle(
        self, *, fixtures: Path, wait_seconds: float, no_images: bool, audits: bool, systems: bool, **_: Any
    ) -> None:
        people = demo.people()
        folders = sorted(path.parent for path in fixtures.glob("*/benchmark.json"))
        if not folders:
            raise CommandError(f"{fixtures}: found no folder with a benchmark.json; expected one for each benchmark")
        if audits:
            self.audit(folders, people["curator"], wait_seconds)
        if systems:
            self.submit_remaining(folders, people, wait_seconds)
        if audits or systems:
            return
        submitted: list[Submission] = []
        images: list[submit_built_images.ImageToBuild] = []
        for folder in folders:
            try:
                plan = manifest.read(folder / "benchmark.json")
                host.host(manifest=plan, folder=folder, by=people["curator"], say=self.say)
                submitted += [self.submit(plan, part, folder, people) for part in plan.systems if part.predictions]
                images += [
                    self.image_to_build(plan, part, folder, people)
                    for part in plan.systems
                    if part.image and not part.later
                ]
            except (manifest.ManifestError, Refused) as error:
                problems = [problem["text"] for problem in getattr(error, "problems", [])]
                raise CommandError("\n".join([f"{folder.name}: {error}", *problems])) from error
        image_submissions = [] if no_images else list(submit_built_images.submissions(images, self.say))
        if wait_seconds:
            self.wait(submitted, wait_seconds)
            submit_built_images.wait(image_submissions, wait_seconds, self.say)
        self.say(f"the demonstration's passwords are in {demo.logins()}")

    def audit(self, folders: list[Path], by: User, seconds: float) -> None:
        for folder in folders:
            plan = manifest.read(folder / "benchmark.json")
            benchmark = Benchmark.objects.filter(slug=plan.slug).first()
            if benchmark is None:
                continue
            try:
                audit_demonstrations.audit(
                    benchmark=benchmark, answers=plan.audit_answers, by=by, seconds=seconds, say=self.say
                )
            except (TimeoutError, Refused) as error:
                raise CommandError(str(error)) from error

    def submit_remaining(self, folders: list[Path], people: dict[str, User], seconds: float) -> None:
        """Submit the images that the manifests mark as `later`, each after the previous one was scored or has failed.

        folders: each with a manifest and its files. people: demo users by username. seconds: longest wait for each
        image; 0: do not wait.
        """
        images: list[submit_built_images.ImageToBuild] = []
        for folder in folders:
            plan = manifest.read(folder / "benchmark.json")
            if Benchmark.objects.filter(slug=plan.slug).exists():
                images += [self.image_to_build(plan, part, folder, people) for part in plan.systems if part.later]
        for submission in submit_built_images.submissions(images, self.say):
            if seconds:
                submit_built_images.wait([submission], seconds, self.say)

    def submit(
        self, plan: manifest.Manifest, part: manifest.SystemPart, folder: Path, people: dict[str, User]
    ) -> Submission:
        """Submit a system's predictions file, unless that was done before and did not fail; return the submission.

        plan: manifest of the benchmark, in `folder`. part: the system in the manifest. people: demo users by username.
        """
        by, phase = self.submitter(part, people), self.phase(plan, part)
        system = self.entrant(part, by)
        with host.opened(folder, part.predictions) as file:
            earlier = Submission.objects.filter(phase=phase, system=system, predictions__sha256=sha256_of(file))
            submission = earlier.exclude(predictions__runs__state=State.FAILED).first()
            if submission is not None:
                return submission
            entry = submissions.Entry(system=system, by=by, track=part.track)
            return submissions.submit(phase=phase, entry=entry, file=file).submission  # type: ignore[arg-type]

    def image_to_build(
        self, plan: manifest.Manifest, part: manifest.SystemPart, folder: Path, people: dict[str, User]
    ) -> submit_built_images.ImageToBuild:
        """Describe the image that is to be built and submitted for a system.

        plan: manifest of the benchmark, in `folder`. part: the system in the manifest. people: demo users by username.
        """
        by, phase = self.submitter(part, people), self.phase(plan, part)
        return submit_built_images.ImageToBuild(
            name=part.name,
            source=submit_built_images.source_of(folder, part.image),
            benchmark=folder,
            phase=phase,
            team=part.team,
            track=part.track,
            by=by,
            entrant=lambda: self.entrant(part, by),
        )

    @staticmethod
    def phase(plan: manifest.Manifest, part: manifest.SystemPart) -> Phase:
        return Phase.objects.get(benchmark__slug=plan.slug, slug=part.phase)

    @staticmethod
    def submitter(part: manifest.SystemPart, people: dict[str, User]) -> User:
        return next((people[person.username] for person in demo.PEOPLE if person.team == part.team), people["curator"])

    @staticmethod
    def entrant(part: manifest.SystemPart, by: User) -> System:
        """Return the system `part` of a manifest; create the system and its team if they do not exist.

        The user `by` becomes a member of the team.
        """
        team = Team.objects.filter(name__iexact=part.team).first() or teams.create(name=part.team, by=by)
        Membership.objects.get_or_create(team=team, user=by)
        texts = {"description": part.description, "paper_url": part.paper_url, "code_url": part.code_url}
        return teams.system(team=team, name=part.name, by=by, kind=part.kind, **texts)

    def wait(self, submitted: list[Submission], seconds: float) -> None:
        """Wait until all runs of the submissions have ended.

        Raises CommandError if no background work moves for `seconds`, or if a run does not end with scores.
        """
        runs = Run.objects.filter(prediction__submission__in=submitted)
        patience = Patience(seconds)
        last: Counter[str] = Counter()
        while True:
            states = Counter(runs.values_list("state", flat=True))
            if states != last:
                self.say(", ".join(f"{count} {state}" for state, count in sorted(states.items())))
                last = states
            if not states[State.QUEUED] and not states[State.RUNNING]:
                break
            if patience.is_over():
                raise CommandError(unanswered(states, patience.idle))
            time.sleep(LOOK_EVERY)
        failed = runs.exclude(state=State.DONE).select_related("prediction__submission__system")
        if failed:
            failures = "; ".join(
                f"{run.prediction.submission.system}: {run.state}, {run.get_reason_display()}" for run in failed
            )
            raise CommandError(f"not every baseline was scored: {failures}")

    def say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def unanswered(states: Counter[str], silent: float) -> str:
    """Return the error text for runs that did not end in time.

    states: number of runs by state. silent: seconds since a run last changed its state.
    """
    waiting = f"{states[State.QUEUED]} runs are queued and {states[State.RUNNING]} running"
    if states[State.RUNNING]:
        return f"{waiting}; they continue without this command"
    return (
        f"{waiting}, and no worker has taken one for {silent:.0f} s. "
        "Start a worker with bin/serve or manage.py serve worker; it will score them."
    )
