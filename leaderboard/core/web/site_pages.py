"""Pages about this site, with a description of Holdout and the operator's contact; `/.well-known/security.txt`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import conditional_page, require_safe

from leaderboard.core.web.public_responses import SECONDS

SECURITY_TXT_DAYS = 180
"""For how many days from today security.txt may be relied on; RFC 9116 recommends less than a year."""


@require_safe
@conditional_page
def about(request: HttpRequest) -> HttpResponseBase:
    return render(request, "core/about.html")


@require_safe
@conditional_page
def contact(request: HttpRequest) -> HttpResponseBase:
    return render(request, "core/contact.html", {"contact": settings.CONTACT, "link": link_of(settings.CONTACT)})


@require_safe
@cache_control(public=True, max_age=SECONDS)
def security_txt(request: HttpRequest) -> HttpResponse:
    """Return security.txt (RFC 9116), which has the address for reports of vulnerabilities.

    Raises Http404 unless HOLDOUT_CONTACT is a mail address or an https:// address.
    """
    link = link_of(settings.CONTACT)
    if not link.startswith(("mailto:", "https://")):
        raise Http404("no contact is configured")
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    expires = today + timedelta(days=SECURITY_TXT_DAYS)
    lines = [
        f"Contact: {link}",
        f"Expires: {expires:%Y-%m-%dT%H:%M:%SZ}",
        "Preferred-Languages: en",
        f"Canonical: {settings.BASE_URL}{reverse('security_txt')}",
    ]
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain; charset=utf-8")


def link_of(address: str) -> str:
    """Return the URL for a link to a contact: a web address unchanged, a mail address after `mailto:`.

    Empty for anything else, such as a phone number.
    """
    if address.startswith(("https://", "http://")):
        return address
    try:
        validate_email(address)
    except ValidationError:
        return ""
    return f"mailto:{address}"
