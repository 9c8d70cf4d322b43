"""Page on which users delete their account."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from leaderboard.accounts.actions import delete_account
from leaderboard.accounts.web.forms import UsernameForm
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.reauthentication import reauthentication_required
from leaderboard.core.web.refusals import Refusal


@login_required
@require_http_methods(["GET", "POST"])
@reauthentication_required
def delete(request: PersonRequest) -> HttpResponse:
    """Show what the deletion does; a POST with the user name deletes the account and ends the session."""
    refusal, form = None, UsernameForm(request.POST or None)
    try:
        delete_account.check_may_delete(request.user)
        if form.is_valid():
            if form.cleaned_data["username"] == request.user.username:
                delete_account.delete(user=request.user)
                logout(request)
                messages.success(request, "Your account was deleted.")
                return redirect("home")
            form.add_error("username", f"Your username is {request.user.username}.")
    except Refused as refused:
        refusal = Refusal(refused)
    context = {"form": form, "refusal": refusal, "teams": delete_account.consequences(request.user)}
    status = refusal.status if refusal and request.method == "POST" else 422 if request.method == "POST" else 200
    return render(request, "accounts/delete.html", context, status=status)
