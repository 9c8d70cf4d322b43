"""Page on which users delete their account, after they have entered their password again."""

from __future__ import annotations

from allauth.account.adapter import get_adapter
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from leaderboard.accounts.actions import delete_account
from leaderboard.accounts.web.forms import PasswordForm
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal


@login_required
@require_http_methods(["GET", "POST"])
def delete(request: PersonRequest) -> HttpResponse:
    """Show what the deletion does; a POST with the password deletes the account and ends the session."""
    form, refusal = PasswordForm(request.POST or None), None
    try:
        delete_account.check_may_delete(request.user)
        if form.is_valid() and _has_password(request, form):
            delete_account.delete(user=request.user)
            logout(request)
            messages.success(request, "Your account was deleted.")
            return redirect("home")
    except Refused as refused:
        refusal = Refusal(refused)
    context = {"form": form, "refusal": refusal, "teams": delete_account.consequences(request.user)}
    status = refusal.status if refusal and request.method == "POST" else 422 if request.method == "POST" else 200
    return render(request, "accounts/delete.html", context, status=status)


def _has_password(request: PersonRequest, form: PasswordForm) -> bool:
    """Return whether the form has the user's password; attempts count towards the limits of log-ins."""
    credentials = {"username": request.user.username, "password": form.cleaned_data["password"]}
    try:
        user = get_adapter().authenticate(request, **credentials)
    except ValidationError as error:
        form.add_error("password", error)
        return False
    if user is None:
        form.add_error("password", "This is not your password.")
    return user == request.user
