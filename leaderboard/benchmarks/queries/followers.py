"""Users who are notified of a benchmark's announcements and deadlines."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Q, QuerySet

from leaderboard.models import Benchmark, Registration, User


def followers_of(benchmark: Benchmark, *, by: datetime) -> QuerySet[User]:
    """Return the users who followed a benchmark, or whose teams had submitted to it, at the time `by`.

    For a private benchmark, return the members of the teams that were registered at that time: nobody else may know of
    it.
    """
    if benchmark.state == Benchmark.State.PRIVATE:
        registered = Registration.objects.filter(
            benchmark=benchmark, state=Registration.State.APPROVED, decided_at__lte=by
        )
        members = User.objects.filter(teams__in=registered.values("team"), is_active=True)
        return members.distinct().order_by("pk")
    takes_part = Q(
        teams__systems__submissions__phase__benchmark=benchmark, teams__systems__submissions__received_at__lte=by
    )
    follows = Q(follows__benchmark=benchmark, follows__created_at__lte=by)
    # Two subqueries: a condition on two joins would multiply the rows.
    either = Q(pk__in=User.objects.filter(takes_part).values("pk")) | Q(
        pk__in=User.objects.filter(follows).values("pk")
    )
    return User.objects.filter(either, is_active=True).order_by("pk")
