"""First page of the settings: the account, a copy of its data, and its deletion."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard.core.web.access import PersonRequest


@login_required
@require_safe
def settings(request: PersonRequest) -> HttpResponse:
    return render(request, "accounts/settings.html")
