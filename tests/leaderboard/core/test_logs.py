"""Log lines of errors say where they happened but quote no data."""

from __future__ import annotations

import logging
import logging.config
import sys

import pytest
from django.conf import settings

ANSWER = "the answer is REFUTES"


def formatted() -> str:
    """Django's own log record of an error that quotes an answer, as the site's formatter writes it."""
    try:
        raise ValueError(ANSWER)
    except ValueError:
        record = logging.LogRecord("django.request", logging.ERROR, __file__, 1, "GET /", None, sys.exc_info())
    line = dict(settings.LOGGING["formatters"]["line"])  # type: ignore[index]
    formatter = logging.config.DictConfigurator({}).configure_formatter(line)
    return formatter.format(record)


def test_a_line_names_the_error_and_its_location() -> None:
    line = formatted()
    assert "error='ValueError'" in line
    assert "test_logs.py:" in line
    assert "\n" not in line


@pytest.mark.parametrize("word", [ANSWER, "traceback object"])
def test_a_line_quotes_no_data(word: str) -> None:
    assert word not in formatted()
