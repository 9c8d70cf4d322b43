"""What two commits publish is compared without what always differs."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.upgrade.compare_commits import normalized


@pytest.mark.django_db
def test_two_error_responses_of_an_address_are_equal() -> None:
    first, second = (Client().get("/api/v1/benchmarks/none/").content.decode() for _ in range(2))
    assert first != second and normalized(first) == normalized(second)
