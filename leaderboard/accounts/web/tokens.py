"""API tokens: create with name, scope and lifetime, show once, revoke. Only a digest is stored."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST
from knox.models import AuthToken

from leaderboard.accounts.actions import tokens
from leaderboard.accounts.web.forms import TokenForm
from leaderboard.core import saved
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.reauthentication import reauthentication_required_to_change


@login_required
@require_http_methods(["GET", "POST"])
@reauthentication_required_to_change
def my_tokens(request: PersonRequest) -> HttpResponse:
    """List the user's valid tokens; a POST issues a token and shows its secret once."""
    secret, form = "", TokenForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            _, secret = tokens.issue(by=request.user, **form.cleaned_data)
        except Refused as refused:
            if refused.code is Code.CHANGED_MEANWHILE:  # the password, which ended this session too
                return redirect("my_tokens")
            form.add_error("name", refused.message)
        else:
            form, text = TokenForm(), "It is shown only this time: copy it now."
            saved.keep(request, saved.page("Your token", text, link=reverse("my_tokens"), secret=secret))
    alive = AuthToken.objects.filter(Q(expiry=None) | Q(expiry__gt=timezone.now()), user=request.user)
    context = {
        "form": form,
        "tokens": alive.select_related("details").order_by("-created"),
        "secret": secret,
        "ended": tokens.ended_by_password(request.user),
    }
    return render(
        request, "accounts/tokens.html", context, status=422 if request.method == "POST" and not secret else 200
    )


@login_required
@require_POST
def revoke_token(request: PersonRequest, key: str) -> HttpResponse:
    """Revoke one of the user's tokens. key: the first characters of the token, which identify it."""
    tokens.revoke(token=get_object_or_404(AuthToken, user=request.user, token_key=key), by=request.user)
    messages.success(request, f"The token {key}… was revoked.")
    return redirect("my_tokens")
