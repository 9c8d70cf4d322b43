"""Log lines of errors: where they happened can be read, what they quote cannot."""

from __future__ import annotations

import logging
import logging.config
import sys

import pytest
from django.conf import settings

ANSWER = "the answer is REFUTES"


def written() -> str:
    """A record of Django's own, for an error that quotes an answer, as the site's formatter writes it."""
    try:
        raise ValueError(ANSWER)
    except ValueError:
        record = logging.LogRecord("django.request", logging.ERROR, __file__, 1, "GET /", None, sys.exc_info())
    line = dict(settings.LOGGING["formatters"]["line"])  # type: ignore[index]
    formatter = logging.config.DictConfigurator({}).configure_formatter(line)
    return formatter.format(record)


def test_a_line_says_what_broke_and_where() -> None:
    line = written()
    assert "error='ValueError'" in line
    assert "test_logs.py:" in line
    assert "\n" not in line


@pytest.mark.parametrize("word", [ANSWER, "traceback object"])
def test_a_line_quotes_nothing(word: str) -> None:
    assert word not in written()
