"""Plurals in texts, pages and the admin: one is singular."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings

from evaluator.text import count_noun

# A number from a template followed by a fixed plural: `{{ n|intcomma }} lines`.
FIXED = re.compile(r"\{\{ [\w.]+(?:\|length)?\|intcomma \}\}(?:</strong>)? (?:error|note|warning|line|unit|group)s\b")


@pytest.mark.parametrize(("n", "expected"), [(0, "0 errors"), (1, "1 error"), (2, "2 errors"), (2000, "2,000 errors")])
def test_a_noun_follows_its_number(n: int, expected: str) -> None:
    assert count_noun(n, "error") == expected


def test_irregular_plurals_are_given() -> None:
    assert [count_noun(n, "entry is", "entries are") for n in (1, 3)] == ["1 entry is", "3 entries are"]


def test_pages_pluralise_nouns_after_numbers() -> None:
    pages = sorted(Path(settings.ROOT, "leaderboard", "templates").rglob("*.html"))
    assert len(pages) > 100
    fixed_plurals = {page.name: FIXED.findall(page.read_text("utf-8")) for page in pages}
    assert {name: texts for name, texts in fixed_plurals.items() if texts} == {}


@pytest.mark.parametrize("name", ["AuditEntry", "NearDuplicate", "SimilarityCheck"])
def test_the_admin_pluralises(name: str) -> None:
    expected = {
        "AuditEntry": "audit entries",
        "NearDuplicate": "near-duplicates",
        "SimilarityCheck": "similarity checks",
    }
    assert apps.get_model("leaderboard", name)._meta.verbose_name_plural == expected[name]
