"""Type of requests of logged-in users, and a decorator for views that need a permission."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponseBase

from leaderboard.models import User


class PersonRequest(HttpRequest):
    """A request of a logged-in user."""

    user: User


def needs(
    permission: Callable[[User], bool],
) -> Callable[[Callable[..., HttpResponseBase]], Callable[..., HttpResponseBase]]:
    """Return a decorator for a view that needs a permission: anonymous users must log in; users without it get a 404.

    permission: function that returns True for a user who has the permission; one of `leaderboard.core.rights`.
    """

    def decorate(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @login_required
        @wraps(view)
        def guarded(request: PersonRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not permission(request.user):
                raise Http404
            return view(request, *args, **kwargs)

        return guarded

    return decorate
