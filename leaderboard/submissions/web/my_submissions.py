"""Page that lists the submissions of the user's teams."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard.core.web.access import PersonRequest
from leaderboard.models import Submission
from leaderboard.submissions.queries import progress
from leaderboard.submissions.web.score_sheet import primary_of

PER_PAGE = 25


@login_required
@require_safe
def my_submissions(request: PersonRequest) -> HttpResponse:
    """List the submissions of the user's teams, the newest first, with state and revealed primary score."""
    submissions = progress.with_related(Submission.objects.of_teams_of(request.user)).order_by("-received_at", "-pk")
    page = Paginator(submissions, PER_PAGE).get_page(request.GET.get("page"))
    followed = [progress.of(submission) for submission in page]
    rows = [(row, primary_of([row.release] if row.release else [])) for row in followed]
    return render(request, "submissions/my_submissions.html", {"page": page, "rows": rows})
