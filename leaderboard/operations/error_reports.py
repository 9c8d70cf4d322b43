"""Reports of errors to Sentry, if its variable SENTRY_DSN is set. Needs the package in requirements-sentry.lock.

A report has the content of a log entry of level error: the event, the class and the traceback locations of the
exception, and ids. It is built only from these (`report`), because the text of an exception, local variables and
requests may have predictions, gold, tokens and personal data.
"""

from __future__ import annotations

import logging
import os
from traceback import extract_tb
from types import TracebackType
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from leaderboard.core.logs import traceback_locations

KEYS = ("error", "at", "kind", "id", "number", "request_id", "reason", "operation", "task")
"""Keys of a log event that its report has as tags."""
GENERAL = ("event_id", "timestamp", "level", "platform")
"""Keys of Sentry's event that the report has too."""


def set_up() -> None:
    """Begin to report errors of this process to Sentry, if SENTRY_DSN is set.

    Raises ImproperlyConfigured if the package `sentry_sdk` is not installed.
    """
    if not os.environ.get("SENTRY_DSN"):
        return
    try:
        import sentry_sdk
        from sentry_sdk.integrations.atexit import AtexitIntegration
        from sentry_sdk.integrations.excepthook import ExcepthookIntegration
        from sentry_sdk.integrations.logging import LoggingIntegration
    except ImportError as error:
        raise ImproperlyConfigured(
            f"SENTRY_DSN is set, and {error.name} is not installed; run: pip install -r requirements-sentry.lock"
        ) from error
    sentry_sdk.init(
        # Other integrations would add requests, queries and breadcrumbs.
        default_integrations=False,
        auto_enabling_integrations=False,
        integrations=[
            LoggingIntegration(level=None, event_level=logging.ERROR, sentry_logs_level=None),
            ExcepthookIntegration(),
            # Waits until the report of the error that ends the process is sent; the SDK would say so on stderr.
            AtexitIntegration(callback=lambda pending, timeout: None),
        ],
        before_send=report,
        send_default_pii=False,
        include_local_variables=False,
        include_source_context=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        auto_session_tracking=False,
        send_client_reports=False,
    )


def report(event: Any, hint: dict[str, Any]) -> Any:
    """Return the report that Sentry's SDK sends in place of its own `event`. This is its option `before_send`.

    hint: the SDK's dict with the log record or the exception.
    """
    record: logging.LogRecord | None = hint.get("log_record")
    # Messages of libraries may have addresses with tokens: only the logger's name is sent.
    fields: dict[str, Any] = record.msg if record and isinstance(record.msg, dict) else {}
    info = hint.get("exc_info") or (record.exc_info if record else None) or (None, None, None)
    name = str(fields.get("event") or (record.name if record else "process_failed"))
    tags = {key: str(fields[key])[:200] for key in KEYS if key in fields}
    if info[0] is not None:
        tags |= {"error": info[0].__name__, "at": traceback_locations(info[2])[:200]}
    result: dict[str, Any] = {key: event[key] for key in GENERAL if key in event}
    result |= {"message": name, "tags": tags, "fingerprint": [name, tags.get("error", ""), tags.get("at", "")]}
    if info[0] is not None:
        result["exception"] = {"values": [{"type": info[0].__name__, "stacktrace": {"frames": _frames(info[2])}}]}
    return result


def _frames(trace: TracebackType | None) -> list[dict[str, Any]]:
    return [{"filename": frame.filename, "lineno": frame.lineno, "function": frame.name} for frame in extract_tb(trace)]
