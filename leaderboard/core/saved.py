"""What a request has saved in the database, so that an error after the commit is not answered as if nothing were saved.

`saved_middleware` notices every transaction with writes that a request commits. A view whose work is committed, and
which then reads more for its response, first calls `keep` with the least response: that is the answer if anything fails
afterwards. For all other errors, `may_be_saved` tells `failures` whether the message may say that nothing was saved.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any, TypeVar

import structlog
from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.template import loader

from leaderboard.core import db_locks
from leaderboard.core.logs import traceback_locations

log = structlog.get_logger(__name__)
AnyResponse = TypeVar("AnyResponse", bound=HttpResponseBase)
_WRITES = ("INSERT", "UPDATE", "DELETE")
_ASIDE = ("django_session", "leaderboard_tokendetails", "leaderboard_auditentry")
"""Tables that requests write to besides what they are for."""


class Saved:
    """What one request has saved.

    committed: a transaction with writes was committed. is_unknown: the response to a write outside transactions was an
    error, so that it may have been committed. response: the one to give if a later step fails.
    """

    def __init__(self) -> None:
        self.committed = False
        self.is_unknown = False
        self.response: HttpResponseBase | None = None

    def watch(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        """Execute a statement, and note a write: once it is committed, `committed` is True. A wrapper for Django."""
        start = str(sql)[:80]
        if not start.startswith(_WRITES) or any(table in start for table in _ASIDE):
            return execute(sql, params, many, context)
        database = context["connection"]
        try:
            result = execute(sql, params, many, context)
        except Exception:
            self.is_unknown |= not database.in_atomic_block
            raise
        database.on_commit(self._commit, robust=True)  # at once if there is no transaction
        return result

    def _commit(self) -> None:
        self.committed = True


def saved_middleware(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Return a middleware that notes what requests save; those with safe methods are left alone."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.method in ("GET", "HEAD", "OPTIONS"):
            return get_response(request)
        state = Saved()
        vars(request)["saved"] = state
        with connection.execute_wrapper(state.watch):
            return get_response(request)

    return middleware


def keep(request: Any, response: AnyResponse) -> AnyResponse:
    """Note that everything the request was for is committed, and return `response`.

    It is given as the answer if anything fails from here on, so it must be made without queries. request: Django's or
    Django REST framework's.
    """
    state = _state(request)
    if state is not None:
        # Only a view can render a response of Django REST framework.
        data = getattr(response, "data", None)
        headers = {name: value for name, value in response.items() if name != "Content-Type"}
        state.response = response if data is None else JsonResponse(data, status=response.status_code, headers=headers)
    return response


def page(title: str, text: str, *, link: str, secret: str = "") -> HttpResponse:
    """Return the least page about something that was saved, made without queries and without the request.

    title, text: what was saved, in words. link: the page on which it is shown. secret: shown this time only.
    """
    context = {"title": title, "text": text, "link": link, "secret": secret}
    response = HttpResponse(loader.get_template("core/saved.html").render(context))
    response["Cache-Control"] = "no-store"
    return response


def response_after(request: Any, error: BaseException | None) -> HttpResponseBase | None:
    """Return the response that was kept before an error, which is logged; None if there is none."""
    state = _state(request)
    if state is None or state.response is None:
        return None
    number = uuid.uuid4().hex[:12]
    where = traceback_locations(error.__traceback__) if error else ""
    log.error("failed_after_commit", number=number, error=type(error).__name__, at=where)
    return state.response


def may_be_saved(request: Any, error: BaseException | None) -> bool:
    """Return whether a request that ended with an error may have saved something."""
    state = _state(request)
    if state is not None and state.committed:
        return True
    if error is None or db_locks.transient_message(error) != db_locks.AWAY:
        return False
    return db_locks.is_commit_unknown(error) or (state is not None and state.is_unknown)


def _state(request: Any) -> Saved | None:
    found: Saved | None = vars(getattr(request, "_request", request)).get("saved")
    return found
