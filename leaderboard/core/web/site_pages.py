"""Pages about this site: what Holdout is, and whom to write to."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import conditional_page, require_safe


@require_safe
@conditional_page
def about(request: HttpRequest) -> HttpResponseBase:
    return render(request, "core/about.html")


@require_safe
@conditional_page
def contact(request: HttpRequest) -> HttpResponseBase:
    return render(request, "core/contact.html", {"contact": settings.CONTACT, "link": link_of(settings.CONTACT)})


def link_of(address: str) -> str:
    """Return the target of a link to an operator's address: a web address as it is, mailto: for a mail address.

    Empty for anything else, such as a phone number.
    """
    if address.startswith(("https://", "http://")):
        return address
    try:
        validate_email(address)
    except ValidationError:
        return ""
    return f"mailto:{address}"
