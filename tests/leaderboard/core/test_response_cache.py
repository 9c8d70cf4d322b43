"""The response cache: shared through Django's cache, bounded, never for another address, and never needed."""

from __future__ import annotations

import pytest
from django.core.cache.backends.locmem import LocMemCache
from django.http import HttpResponse

from leaderboard.core import response_cache
from leaderboard.core.response_cache import SLOTS, get_or_render


@pytest.fixture(autouse=True)
def shared(settings: object, monkeypatch: pytest.MonkeyPatch) -> LocMemCache:
    settings.CACHES_RESPONSES = True  # type: ignore[attr-defined]
    cache = LocMemCache("responses", {})
    cache.clear()
    monkeypatch.setattr(response_cache, "cache", cache)
    monkeypatch.setattr(response_cache, "_pause", response_cache._Pause())
    return cache


def content(tag: str, address: str, rendered: str) -> str:
    return get_or_render(tag, address, lambda: HttpResponse(rendered)).content.decode()


def test_a_response_is_used_for_its_tag_and_address_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_cache, "SLOTS", 1)
    assert content("1", "/a", "first") == content("1", "/a", "unused") == "first"
    assert content("2", "/a", "second") == content("2", "/a", "unused") == "second"
    assert content("2", "/b", "third") == "third"
    assert content("2", "/a", "again") == "again", "/b is in the only slot"


def test_a_site_with_other_settings_renders_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert content("1", "/a", "ours") == "ours"
    monkeypatch.setattr(response_cache, "_site_digest", lambda: "another")
    assert content("1", "/a", "theirs") == "theirs"


def test_any_number_of_addresses_and_tags_takes_a_bounded_number_of_entries(shared: LocMemCache) -> None:
    shared._max_entries = 10 * SLOTS
    for number in range(5 * SLOTS):
        content(str(number), f"/?search={number}", "x")
    assert 0 < len(shared._cache) <= SLOTS


@pytest.mark.parametrize("kind", ["error", "cookie", "large"])
def test_errors_cookies_and_large_responses_are_not_cached(kind: str, shared: LocMemCache) -> None:
    size = response_cache.MOST_BYTES + 1 if kind == "large" else 1
    response = HttpResponse("x" * size, status=404 if kind == "error" else 200)
    if kind == "cookie":
        response.set_cookie("csrftoken", "of one visitor")
    assert get_or_render("1", "/a", lambda: response) is response
    assert not shared._cache


def test_a_cache_that_is_away_is_not_asked_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Away:
        def get(self, key: str) -> None:
            asked.append(key)
            raise ConnectionError

    monkeypatch.setattr(response_cache, "cache", Away())
    assert [content("1", "/a", text) for text in ("first", "second")] == ["first", "second"]
    assert len(asked) == 1
    response_cache._pause.end = 0.0
    content("1", "/a", "third")
    assert len(asked) == 2
