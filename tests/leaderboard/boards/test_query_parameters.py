"""Query parameters are validated once, and each request gets a copy."""

import pytest
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from leaderboard.boards.api.query_parameters import BoardPageQuery, BoardQuery, read


def request(query: str) -> Request:
    return Request(APIRequestFactory().get(f"/?{query}"))


def test_requests_with_equal_parameters_share_nothing_that_one_of_them_sets() -> None:
    first = read(BoardPageQuery, request("measure=accuracy&page=2"))
    first["page"] = 7
    second = read(BoardPageQuery, request("measure=accuracy&page=2"))
    assert (second["page"], second["measure"]) == (2, ["accuracy"])
    assert "page" not in read(BoardQuery, request("measure=accuracy&page=2")), "each view has parameters of its own"


def test_an_invalid_parameter_is_refused_each_time() -> None:
    for _ in range(2):
        with pytest.raises(ValidationError) as refusal:
            read(BoardPageQuery, request("page=0"))
        assert set(refusal.value.get_codes()) == {"page"}
