"""What one's teams have sent."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from leaderboard.core.web.access import PersonRequest
from leaderboard.models import Submission
from leaderboard.submissions.queries import progress
from leaderboard.submissions.web.score_sheet import primary_of

PER_PAGE = 25


@login_required
@never_cache
@require_safe
def my_submissions(request: PersonRequest) -> HttpResponse:
    """Newest first, with state and primary score."""
    sent = progress.followed(Submission.objects.of_teams_of(request.user)).order_by("-received_at", "-pk")
    page = Paginator(sent, PER_PAGE).get_page(request.GET.get("page"))
    sent_ones = [progress.of(row) for row in page]
    rows = [(one, primary_of([one.release] if one.release else [])) for one in sent_ones]
    return render(request, "submissions/my_submissions.html", {"page": page, "rows": rows})
