"""Download of a copy of the user's data."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import StreamingHttpResponse
from django.views.decorators.http import require_safe

from leaderboard.accounts.actions import account_mails
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.reauthentication import reauthentication_required
from leaderboard.submissions.queries import own_data as queries


@login_required
@require_safe
@reauthentication_required
def own_data(request: PersonRequest) -> StreamingHttpResponse:
    """Download the user's profile, teams and submissions as a ZIP file."""
    account_mails.tell(request.user, "A copy of your data was downloaded.")
    response = StreamingHttpResponse(queries.archive(request.user), content_type="application/zip")
    response["Content-Disposition"] = 'attachment; filename="my-data.zip"'
    return response
