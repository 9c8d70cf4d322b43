"""Page on which users allow a log-in of the `holdout-eval` command, by the code that the command shows."""

from __future__ import annotations

from allauth.idp.oidc.forms import ConfirmCodeForm
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from leaderboard.accounts.actions import device_grants, tokens
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.reauthentication import reauthentication_required_to_change


class CodeForm(ConfirmCodeForm):
    """django-allauth's form for a code, which limits guesses."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        widget = self.fields["code"].widget
        widget.attrs = {"autocomplete": "off", "autocapitalize": "characters", "spellcheck": "false"}


@login_required
@require_http_methods(["GET", "POST"])
@reauthentication_required_to_change
def device(request: PersonRequest) -> HttpResponse:
    """Ask for the code, and then for permission; a POST with the code allows or denies the log-in."""
    given = request.POST if request.method == "POST" else request.GET
    form = CodeForm(given if "code" in given else None)
    if not form.is_valid():
        status = 422 if form.is_bound or request.method == "POST" else 200
        return render(request, "accounts/device.html", {"form": form}, status=status)
    context = {
        "code": form.cleaned_data["code"].upper(),
        "scope": device_grants.scope_of(form.device_code),
        "days": tokens.DEFAULT_DAYS,
    }
    if request.method == "POST":
        allow = request.POST.get("action") == "allow"
        is_decided = device_grants.decide(by=request.user, device_code=form.device_code, allow=allow)
        context["outcome"] = ("allowed" if allow else "denied") if is_decided else "expired"
    return render(request, "accounts/device.html", context)
