"""Conditions for submitting to a benchmark: no bar, the team is registered, and the user has agreed to the rules.

A bar holds whatever the benchmark's access is. Whether teams register and people agree, organisers choose for each
benchmark (`Benchmark.access`, `Benchmark.asks_agreement`); these two do not apply to the benchmark's managers, and
the testers of a draft need not register.
"""

from __future__ import annotations

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from leaderboard.accounts.actions import membership
from leaderboard.core import db_clock
from leaderboard.core.names.names import check_signs
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages
from leaderboard.models import (
    AuditEntry,
    Bar,
    Benchmark,
    Membership,
    Registration,
    RulesAgreement,
    Submission,
    Team,
    User,
)

REQUESTED, APPROVED, DECLINED = Registration.State.REQUESTED, Registration.State.APPROVED, Registration.State.DECLINED
LONGEST_MESSAGE = 500
_WITHOUT_REQUESTS: dict[str, str] = {
    Benchmark.Access.OPEN: "Everybody may take part in this benchmark: submit without registering.",
    Benchmark.Access.INVITED: "Only teams that the organisers invite may take part in this benchmark.",
}


def check(*, benchmark: Benchmark, team: Team, by: User) -> None:
    """Raise Refused RULES_NOT_AGREED or NOT_REGISTERED unless the user may submit to the benchmark for the team.

    Only registration and agreement to the rules are checked, not bars (`check_not_barred`). The message has the URL of
    the page on which users agree and register.
    """
    if benchmark.access == Benchmark.Access.OPEN and not benchmark.needs_agreement:
        return
    if benchmark.is_managed_by(by):
        return
    address = settings.BASE_URL + reverse("join", args=[benchmark.slug])
    if not has_agreed(benchmark, by):
        raise Refused(Code.RULES_NOT_AGREED, f"Before you submit, agree to the rules of {benchmark}: {address}")
    if not _needs_registration(benchmark, by):
        return
    match Registration.objects.filter(benchmark=benchmark, team=team.pk).values_list("state", flat=True).first():
        case Registration.State.APPROVED:
            return
        case Registration.State.REQUESTED:
            why_not = f"The organisers of {benchmark} have not answered the registration of {team} yet"
        case Registration.State.DECLINED:
            why_not = f"The organisers of {benchmark} declined the registration of {team}"
        case _ if benchmark.access == Benchmark.Access.INVITED:
            why_not = f"{benchmark} is for invited teams, and {team} is not one of them"
        case _:
            why_not = f"Before {team} submits to {benchmark}, register it"
    raise Refused(Code.NOT_REGISTERED, f"{why_not}: {address}")


def _needs_registration(benchmark: Benchmark, user: User) -> bool:
    return benchmark.access != Benchmark.Access.OPEN and not benchmark.is_tested_by(user)


def check_not_barred(*, benchmark: Benchmark, team: Team | None, by: User) -> None:
    """Raise Refused BARRED if the team or the user may not submit to the benchmark. team: None for any team."""
    if Bar.objects.against(benchmark=benchmark, team=team, user=by).exists():
        raise barred_error(benchmark)


def barred_error(benchmark: Benchmark) -> Refused:
    contact = f" Questions: {benchmark.contact}" if benchmark.contact else ""
    return Refused(
        Code.BARRED,
        f"The organisers of {benchmark} have removed your team: neither it nor those who were its members then can "
        f"submit.{contact}",
    )


def check_person(*, benchmark: Benchmark, by: User) -> None:
    """Raise Refused BARRED, RULES_NOT_AGREED or NOT_REGISTERED unless `may_submit` returns True for the user."""
    check_not_barred(benchmark=benchmark, team=None, by=by)
    if may_submit(benchmark, by):
        return
    address = settings.BASE_URL + reverse("join", args=[benchmark.slug])
    if not has_agreed(benchmark, by):
        raise Refused(Code.RULES_NOT_AGREED, f"First agree to the rules of {benchmark}: {address}")
    raise Refused(Code.NOT_REGISTERED, f"None of your teams is registered for {benchmark}: {address}")


def may_submit(benchmark: Benchmark, user: User) -> bool:
    """Return whether bars, registration and agreement to the rules allow the user to submit to the benchmark.

    If the benchmark is not open to everybody, at least one of the user's teams must be registered, unless the user
    tests a draft. Managers may submit unless they are barred. Deadlines and quotas are not checked.
    """
    if Bar.objects.filter(benchmark=benchmark, people=user).exists():
        return False
    if benchmark.access == Benchmark.Access.OPEN and not benchmark.needs_agreement:
        return True
    if benchmark.is_managed_by(user):
        return True
    approved = Registration.objects.filter(benchmark=benchmark, team__members=user, state=APPROVED)
    return has_agreed(benchmark, user) and (not _needs_registration(benchmark, user) or approved.exists())


def has_agreed(benchmark: Benchmark, user: User) -> bool:
    """Return whether the user has agreed to the benchmark's current rules, or the benchmark asks for no agreement."""
    agreements = RulesAgreement.objects.filter(benchmark=benchmark, user=user, rules_sha256=benchmark.rules_sha256)
    return not benchmark.needs_agreement or agreements.exists()


def agree(*, benchmark: Benchmark, rules_sha256: str, by: User) -> None:
    """Record that the user agrees to the benchmark's rules. Agreeing twice changes nothing.

    rules_sha256: digest of the rules that the user has read. Raises Refused CHANGED_MEANWHILE if it is not the digest
    of the current rules.
    """
    if rules_sha256 != benchmark.rules_sha256:
        raise Refused(
            Code.CHANGED_MEANWHILE,
            "The rules have changed since you opened this page. Read them again.",
            heading="You have not agreed yet",
        )
    RulesAgreement.objects.get_or_create(
        benchmark=benchmark, user=by, rules_sha256=rules_sha256, defaults={"agreed_at": timezone.now()}
    )


def request(*, benchmark: Benchmark, team: Team, message: str, by: User) -> Registration:
    """Ask the organisers to register a team; return the registration, or the one that the team has already.

    message: from the team to the organisers. Raises Refused: NOT_A_MEMBER; NOT_POSSIBLE unless the benchmark has the
    access APPROVAL, in which organisers approve teams; INVALID_VALUE for an invalid message.
    """
    if not Membership.objects.filter(team=team, user=by).exists():
        raise Refused(Code.NOT_A_MEMBER, "You are not a member of this team.")
    check_not_barred(benchmark=benchmark, team=team, by=by)
    if benchmark.access != Benchmark.Access.APPROVAL:
        raise Refused(Code.NOT_POSSIBLE, _WITHOUT_REQUESTS[benchmark.access], heading="The team was not registered")
    check_signs(message, of="message", lines=True)
    if len(message) > LONGEST_MESSAGE:
        raise Refused(
            Code.INVALID_VALUE, f"The message has {len(message)} characters; expected at most {LONGEST_MESSAGE}."
        )
    fields = {"message": message, "requested_by": by, "requested_at": timezone.now()}
    return Registration.objects.get_or_create(benchmark=benchmark, team=team, defaults=fields)[0]


@transaction.atomic
def invite(*, benchmark: Benchmark, team: Team, by: User) -> Registration:
    """Register a team that has not asked for it; a registration that exists is approved.

    Raises Refused NOT_AN_ORGANISER, and BARRED as `decide` does.
    """
    check_manages(benchmark, by)
    now = timezone.now()
    Registration.objects.get_or_create(benchmark=benchmark, team=team, defaults={"requested_at": now})
    return decide(benchmark=benchmark, team=team, approve=True, by=by)


@transaction.atomic
def decide(*, benchmark: Benchmark, team: Team, approve: bool, by: User) -> Registration:
    """Approve or decline a team's registration; earlier decisions can be changed. Submissions of the team stay.

    Raises Refused: NOT_AN_ORGANISER, and BARRED if a barred team would be approved. Raises Registration.DoesNotExist if
    the team has no registration.
    """
    check_manages(benchmark, by)
    if approve and Bar.objects.filter(benchmark=benchmark, team=team).exists():
        raise Refused(Code.BARRED, f"{team} is barred from {benchmark}; let it submit again first.")
    row = Registration.objects.select_for_update().get(benchmark=benchmark, team=team)
    state = APPROVED if approve else DECLINED
    if row.state != state:
        row.state, row.decided_by, row.decided_at = state, by, timezone.now()
        row.save(update_fields=["state", "decided_by", "decided_at"])
        AuditEntry.record(f"registration.{state}", benchmark, by=by, team=team.name)
    return row


@transaction.atomic
def bar(*, benchmark: Benchmark, team: Team, by: User) -> Bar:
    """Bar a team, and the people who are its members, from submitting to the benchmark; return the bar, new or not.

    Whoever manages the benchmark is not barred. A registration of the team is declined. What was received before stays,
    and what waits is still scored. Raises Refused NOT_AN_ORGANISER.
    """
    check_manages(benchmark, by)
    # A submission of the team that holds its lock is accepted first; one that waits for the lock finds the bar.
    team = membership.held(team)
    row, is_new = Bar.objects.get_or_create(
        benchmark=benchmark,
        team=team,
        defaults={"team_name": team.name, "barred_by": by, "barred_at": db_clock.now()},
    )
    row.people.add(*(person for person in team.members.all() if not benchmark.is_managed_by(person)))
    if Registration.objects.filter(benchmark=benchmark, team=team).exists():
        decide(benchmark=benchmark, team=team, approve=False, by=by)
    if is_new:
        AuditEntry.record("registration.barred", benchmark, by=by, team=team.name)
    return row


@transaction.atomic
def lift(*, bar: Bar, by: User) -> None:
    """Let a barred team and its people submit again; where teams register, the team is registered again.

    Raises Refused NOT_AN_ORGANISER.
    """
    benchmark, team = bar.benchmark, bar.team
    check_manages(benchmark, by)
    AuditEntry.record("registration.bar_lifted", benchmark, by=by, team=bar.team_name)
    bar.delete()
    if team is not None and benchmark.access != Benchmark.Access.OPEN:
        invite(benchmark=benchmark, team=team, by=by)


@transaction.atomic
def set_access(*, benchmark: Benchmark, access: str, asks_agreement: bool, by: User) -> Benchmark:
    """Set who may submit to a benchmark, and whether participants must first agree to its rules.

    access: one of Benchmark.Access; a published benchmark becomes private or public accordingly. If only registered
    teams may submit, the teams with submissions and without a registration are registered, except in a draft. Raises
    Refused: NOT_AN_ORGANISER; INVALID_VALUE for an unknown `access`; NOT_READY if agreement is asked for and there are
    no rules.
    """
    locked = Benchmark.objects.select_for_update(of=("self",), no_key=True).get(pk=benchmark.pk)
    check_manages(locked, by)
    if access not in Benchmark.Access.values:
        expected = ", ".join(Benchmark.Access.values)
        raise Refused(Code.INVALID_VALUE, f"{access[:60]!r} is not a kind of access; expected one of {expected}.")
    if asks_agreement and not locked.rules:
        raise Refused(
            Code.NOT_READY,
            "The benchmark has no rules to agree to; write them first, under Edit.",
            field_name="asks_agreement",
        )
    before = {"access": locked.access, "asks_agreement": locked.asks_agreement}
    locked.access, locked.asks_agreement = access, asks_agreement
    if locked.is_published:
        locked.state = locked.published_state
    after = {"access": access, "asks_agreement": asks_agreement}
    if before != after:
        locked.save(update_fields=["access", "asks_agreement", "state"])
        changes = {
            name: {"before": before[name], "after": after[name]} for name in after if before[name] != after[name]
        }
        AuditEntry.record("benchmark.access", locked, by=by, **changes)
    if access != Benchmark.Access.OPEN and locked.is_published:
        for team in _unregistered(locked):
            invite(benchmark=locked, team=team, by=by)
    return locked


def _unregistered(benchmark: Benchmark) -> list[Team]:
    """Return the teams with submissions to the benchmark and without a registration.

    The team of its baselines and barred teams are left out.
    """
    submissions = Submission.objects.filter(phase__benchmark=benchmark)
    teams = Team.objects.filter(pk__in=submissions.values("system__team")).exclude(baselines_of=benchmark)
    teams = teams.exclude(bars__benchmark=benchmark)
    return list(teams.exclude(pk__in=benchmark.registrations.values("team")))
