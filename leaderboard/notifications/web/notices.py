"""A user's notices: the latest ones, mails on or off, benchmarks followed, webhooks and their latest deliveries."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.boards.queries.lookup import benchmark_or_404
from leaderboard.core import saved
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.reauthentication import reauthentication_required, reauthentication_required_to_change
from leaderboard.models import Benchmark, Notice, User, Webhook
from leaderboard.notifications.actions import deliver, follows, kinds, webhook_signature, webhooks
from leaderboard.notifications.actions.recipients import Switch

SHOWN = 20
SWITCHES: dict[str, Switch] = {"results": "mailed_since", "news": "news_mailed_since"}
"""Value of a form's field `about` -> the switch that it sets."""


class WebhookForm(forms.Form):
    url = forms.URLField(
        label="Address",
        max_length=500,
        assume_scheme="https",
        help_text="https://… on the public internet. We send it a POST request with JSON for each event that you are "
        "notified of, for example when a submission of your teams finishes.",
    )


@dataclass(frozen=True)
class Listed:
    """A notice in the user's list. path: address of the page that it is about, on this site."""

    notice: Notice
    text: str
    path: str


@login_required
@require_http_methods(["GET", "POST"])
@reauthentication_required_to_change
def my_notices(request: PersonRequest) -> HttpResponse:
    """Show the notices and settings; a POST adds a webhook, and its response alone shows the secret."""
    form, added, status = WebhookForm(request.POST or None), None, 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                added = webhooks.add(url=form.cleaned_data["url"], by=request.user)
            except Refused as refused:
                form.add_error("url", refused.message)
                status = refused.code.status
            else:
                form, status = WebhookForm(), 200
    return _page(request, form, status, secret_of=added)


def _page(
    request: PersonRequest, form: WebhookForm, status: int = 200, secret_of: Webhook | None = None
) -> HttpResponse:
    """Return the page of notices. secret_of: the webhook whose secret it shows; None: no secret is shown."""
    if secret_of is not None:
        text, secret = "It is shown only this time: copy it now.", webhook_signature.secret(secret_of)
        saved.keep(request, saved.page("The webhook's secret", text, link=reverse("my_notices"), secret=secret))
    at = timezone.now()
    deliveries = request.user.notices.exclude(state=Notice.State.SITE).select_related("webhook", "submission__system")
    context = {
        "form": form,
        "secret_of": secret_of,
        "secret": webhook_signature.secret(secret_of) if secret_of else "",
        "webhooks": [
            (webhook, webhook_signature.previous_signs_until(webhook, at)) for webhook in request.user.webhooks.all()
        ],
        "most": webhooks.MAX_WEBHOOKS,
        "listed": _latest(request.user),
        "followed": Benchmark.objects.visible_to(request.user).filter(follows__user=request.user).order_by("title"),
        "deliveries": [(notice, kinds.label(notice)) for notice in deliveries[:SHOWN]],
        "is_on": settings.NOTIFICATIONS,
        "sends_mail": settings.SENDS_MAIL,
        "attempts": deliver.ATTEMPTS,
    }
    return render(request, "notifications/notices.html", context, status=status)


def _latest(user: User) -> list[Listed]:
    """Return the user's latest notices, without those that the user may no longer see."""
    latest = user.notices.filter(webhook=None).select_related("user")[:SHOWN]
    return [
        Listed(notice, kinds.words(notice)[0], str(notice.body["page"]).removeprefix(settings.BASE_URL))
        for notice in latest
        if kinds.is_for(notice)
    ]


@login_required
@require_POST
def mail(request: PersonRequest) -> HttpResponse:
    """Switch mails about `about` (results or news) on if the form has `mail=on`, else off."""
    is_on = request.POST.get("mail") == "on"
    switch = SWITCHES.get(request.POST.get("about", "results"), "mailed_since")
    webhooks.mail(to=request.user, is_on=is_on, switch=switch)
    message = f"These emails go to {request.user.email}." if is_on else "These emails are off."
    messages.success(request, message)
    return redirect("my_notices")


@login_required
@require_POST
def read(request: PersonRequest) -> HttpResponse:
    """Mark the notice that the form's field `notice` names as read; without the field, all of the user's notices."""
    try:
        notice = UUID(request.POST["notice"]) if "notice" in request.POST else None
    except ValueError:
        return redirect("my_notices")
    follows.mark_as_read(by=request.user, notice=notice)
    return redirect("my_notices")


@login_required
@require_POST
def follow(request: PersonRequest, slug: str) -> HttpResponse:
    """Follow a benchmark, or stop following it if the form has `follow=off`; return to the page of the form."""
    if request.POST.get("follow") == "off":
        benchmark = get_object_or_404(Benchmark, slug=slug, follows__user=request.user)
        follows.unfollow(benchmark=benchmark, by=request.user)
        messages.success(request, f"You no longer follow {benchmark.title}.")
    else:
        benchmark = benchmark_or_404(request.user, slug)
        follows.follow(benchmark=benchmark, by=request.user)
        messages.success(
            request, f"You follow {benchmark.title}. Its announcements and deadlines are under Notifications."
        )
    return redirect("my_notices" if request.POST.get("from") == "notices" else benchmark)


@login_required
@require_POST
def test(request: PersonRequest, pk: UUID) -> HttpResponse:
    webhook = get_object_or_404(Webhook, user=request.user, pk=pk)
    try:
        webhooks.test(webhook=webhook, by=request.user)
    except Refused as refused:
        messages.error(request, refused.message)
    else:
        messages.success(request, "A test was queued; its response will appear below.")
    return redirect("my_notices")


@login_required
@require_POST
@reauthentication_required
def rotate_secret(request: PersonRequest, pk: UUID) -> HttpResponse:
    """Give a webhook a new secret; the response alone shows it."""
    webhook = webhooks.rotate_secret(webhook=get_object_or_404(Webhook, user=request.user, pk=pk), by=request.user)
    return _page(request, WebhookForm(), secret_of=webhook)


@login_required
@require_POST
def remove(request: PersonRequest, pk: UUID) -> HttpResponse:
    webhooks.remove(webhook=get_object_or_404(Webhook, user=request.user, pk=pk), by=request.user)
    messages.success(request, "The webhook was removed.")
    return redirect("my_notices")
