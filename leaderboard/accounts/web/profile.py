"""Page on which users edit their public profile."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from leaderboard.accounts.actions import profiles
from leaderboard.accounts.queries import orcid
from leaderboard.accounts.web.forms import ProfileForm
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.models import Profile


@login_required
@require_http_methods(["GET", "POST"])
def my_profile(request: PersonRequest) -> HttpResponse:
    """Show the form of the user's profile; a POST saves it."""
    profile, status = Profile.objects.filter(user=request.user).first(), 200
    fields = ("is_public", "name", "affiliation", "url", "orcid")
    initial = {name: getattr(profile, name) for name in fields} if profile else {}
    form = ProfileForm(request.POST or None, initial=initial, linked_orcid=orcid.linked(request.user))
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                profile = profiles.update(by=request.user, **form.cleaned_data)
            except Refused as refused:
                form.add_error("orcid" if "ORCID" in refused.message else None, refused.message)
                status = refused.code.status
            else:
                shown = "everybody can see your profile" if profile.is_public else "nobody else can see your profile"
                messages.success(request, f"Saved: {shown}.")
                return redirect("my_profile")
    return render(request, "accounts/profile.html", {"form": form, "profile": profile}, status=status)
