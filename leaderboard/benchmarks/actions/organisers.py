"""Organisers of a benchmark: add and remove them."""

from __future__ import annotations

from django.db import transaction

from leaderboard.accounts.actions import account_mails
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages
from leaderboard.core.text.mail_text import quoted
from leaderboard.models import AuditEntry, Benchmark, User

MOST_ORGANISERS = 100
NOT_CHANGED = "The organisers were not changed"


@transaction.atomic
def add(*, benchmark: Benchmark, username: str, by: User) -> User:
    """Make a user an organiser of a benchmark; return the user.

    Raises Refused: NOT_AN_ORGANISER; INVALID_VALUE for a name that no active account has; LIMIT_REACHED for more than
    MOST_ORGANISERS organisers.
    """
    locked = _locked(benchmark, by)
    user = User.objects.filter(username=username.strip(), is_active=True).first()
    if user is None:
        raise Refused(
            Code.INVALID_VALUE,
            f"No active account is called {username.strip()[:150]}; expected a username.",
            field_name="username",
        )
    if locked.organisers.filter(pk=user.pk).exists():
        return user
    if locked.organisers.count() >= MOST_ORGANISERS:
        raise Refused(
            Code.LIMIT_REACHED,
            f"The benchmark has {MOST_ORGANISERS} organisers, the maximum; remove one first.",
            field_name="username",
        )
    locked.organisers.add(user)
    account_mails.tell(by, f"You added an organiser:\n\n{quoted(f'{user.username} to {locked.title}')}")
    AuditEntry.record("organiser.added", locked, by=by, user=user.username)
    return user


@transaction.atomic
def remove(*, benchmark: Benchmark, user: User, by: User) -> None:
    """Remove an organiser, who may be the user that acts.

    Raises Refused: NOT_AN_ORGANISER; NOT_POSSIBLE if no active organiser would remain.
    """
    locked = _locked(benchmark, by)
    if not locked.organisers.filter(pk=user.pk).exists():
        return
    if not locked.organisers.filter(is_active=True).exclude(pk=user.pk).exists():
        raise Refused(
            Code.NOT_POSSIBLE,
            "A benchmark needs at least one active organiser. Add another one first.",
            heading=NOT_CHANGED,
        )
    locked.organisers.remove(user)
    for person in {by, user}:
        account_mails.tell(person, f"An organiser was removed:\n\n{quoted(f'{user.username} of {locked.title}')}")
    AuditEntry.record("organiser.removed", locked, by=by, user=user.username)


def _locked(benchmark: Benchmark, by: User) -> Benchmark:
    """Lock the benchmark's row and return it: two organisers who remove each other at the same time would leave none.

    Raises Refused NOT_AN_ORGANISER unless `by` manages the benchmark.
    """
    locked = Benchmark.objects.select_for_update(of=("self",), no_key=True).get(pk=benchmark.pk)
    check_manages(locked, by)
    return locked
