"""Page on which users delete their account, after they have entered their password again, or their user name."""

from __future__ import annotations

from allauth.account.adapter import get_adapter
from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from leaderboard.accounts.actions import delete_account
from leaderboard.accounts.web.forms import PasswordForm, UsernameForm
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal


@login_required
@require_http_methods(["GET", "POST"])
def delete(request: PersonRequest) -> HttpResponse:
    """Show what the deletion does; a POST with the password deletes the account and ends the session.

    Users without a password confirm with their user name instead, and first with a second factor if they have one.
    """
    if request.user.has_usable_password():
        return _delete(request, PasswordForm(request.POST or None))
    response: HttpResponse = _delete_without_password(request)
    return response


@reauthentication_required(app="allauth.mfa")
def _delete_without_password(request: PersonRequest) -> HttpResponse:
    return _delete(request, UsernameForm(request.POST or None))


def _delete(request: PersonRequest, form: PasswordForm | UsernameForm) -> HttpResponse:
    refusal = None
    try:
        delete_account.check_may_delete(request.user)
        if form.is_valid() and _confirms(request, form):
            delete_account.delete(user=request.user)
            logout(request)
            messages.success(request, "Your account was deleted.")
            return redirect("home")
    except Refused as refused:
        refusal = Refusal(refused)
    context = {"form": form, "refusal": refusal, "teams": delete_account.consequences(request.user)}
    status = refusal.status if refusal and request.method == "POST" else 422 if request.method == "POST" else 200
    return render(request, "accounts/delete.html", context, status=status)


def _confirms(request: PersonRequest, form: PasswordForm | UsernameForm) -> bool:
    """Return whether the form has the user's password, or the user name if there is no password.

    Attempts count towards the limits of log-ins.
    """
    if isinstance(form, UsernameForm):
        if form.cleaned_data["username"] != request.user.username:
            form.add_error("username", f"Your username is {request.user.username}.")
        return form.is_valid()
    credentials = {"username": request.user.username, "password": form.cleaned_data["password"]}
    try:
        user = get_adapter().authenticate(request, **credentials)
    except ValidationError as error:
        form.add_error("password", error)
        return False
    if user is None:
        form.add_error("password", "This is not your password.")
    return user == request.user
