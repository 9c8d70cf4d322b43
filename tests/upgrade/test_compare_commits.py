"""What two commits publish is compared without what always differs."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.upgrade.compare_commits import differences, normalized


@pytest.mark.django_db
def test_two_error_responses_of_an_address_are_equal() -> None:
    first, second = (Client().get("/api/v1/benchmarks/none/").content.decode() for _ in range(2))
    assert first != second and normalized(first) == normalized(second)


@pytest.mark.parametrize(
    ("after", "differs"),
    [
        ('{"subset":"public","gold_subset":"public","a":[{"parts":3,"n_bins":{"b":3}}],"b":1}', False),
        ('{"subset":"public","a":[{"parts":4}],"b":1}', True),
        ('{"subset":"public","a":[{"n_bins":3}],"b":1}', True),
        ('{"subset":"public","a":[{"parts":3},{"parts":3}],"b":1}', True),
        ('{"subset":"public","a":[],"b":1}', True),
    ],
)
def test_comparing_two_commits_ignores_new_fields_only(after: str, differs: bool) -> None:
    before = '{"subset":"public","a":[{"parts":3}],"b":1}'
    documents = [{"/board/": f"200 application/json\n{text}"} for text in (before, after)]
    assert bool(differences(*documents)) == differs
