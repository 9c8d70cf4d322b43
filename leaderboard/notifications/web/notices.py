"""Page with a user's notification settings: mails on or off, webhooks, and the latest deliveries."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.models import Webhook
from leaderboard.notifications.actions import deliver, kinds, webhooks
from leaderboard.notifications.web.forms import WebhookForm

SHOWN = 20


@login_required
@require_http_methods(["GET", "POST"])
def my_notices(request: PersonRequest) -> HttpResponse:
    """Show the settings and latest deliveries; a POST adds a webhook, and its response alone shows the secret."""
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
    notices = request.user.notices.select_related("webhook", "submission__system")
    context = {
        "form": form,
        "added": added,
        "secret": deliver.secret(added) if added else "",
        "webhooks": request.user.webhooks.all(),
        "most": webhooks.MAX_WEBHOOKS,
        "deliveries": [(notice, kinds.label(notice)) for notice in notices[:SHOWN]],
        "is_on": settings.NOTIFICATIONS,
        "attempts": deliver.ATTEMPTS,
    }
    return render(request, "notifications/notices.html", context, status=status)


@login_required
@require_POST
def mail(request: PersonRequest) -> HttpResponse:
    """Switch mails on if the form has `mail=on`, else off."""
    is_on = request.POST.get("mail") == "on"
    webhooks.mail(to=request.user, is_on=is_on)
    message = f"Emails go to {request.user.email}." if is_on else "Emails are off."
    messages.success(request, message)
    return redirect("my_notices")


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
def remove(request: PersonRequest, pk: UUID) -> HttpResponse:
    webhooks.remove(webhook=get_object_or_404(Webhook, user=request.user, pk=pk), by=request.user)
    messages.success(request, "The webhook was removed.")
    return redirect("my_notices")
