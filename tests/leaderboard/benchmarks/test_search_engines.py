"""robots.txt, the sitemap, canonical addresses and link previews: what search engines and chats see of the site."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from django.conf import settings
from django.test import Client
from django.urls import resolve
from django.utils import timezone

from leaderboard.models import Benchmark, Leaderboard, Standing, System
from tests.support.rows.board_rows import score, stand
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
PAGE = "/benchmarks/tiny/test/"


def built() -> World:
    new_world = build()
    stand(new_world, "Second", [score("accuracy", 0.7)])
    stand(new_world, 'First "best" <b>', [score("accuracy", 0.8)])
    return new_world


world, _django_db_helper = shared_states(world=built)


def listed(client: Client) -> list[str]:
    root = ElementTree.fromstring(client.get("/sitemap.xml").content)
    return [(loc.text or "").removeprefix(settings.BASE_URL) for loc in root.findall(".//{*}loc")]


def tags(client: Client, address: str) -> dict[str, str]:
    page = client.get(address).content.decode()
    return dict(re.findall(r'<meta (?:name|property)="([^"]+)" content="([^"]*)">', page))


def test_each_address_of_the_sitemap_is_public(world: World, client: Client) -> None:
    paths = listed(client)
    assert {"/", "/benchmarks/tiny/", PAGE} <= set(paths) and len(paths) == len(set(paths))
    assert all(client.get(path).status_code == 200 for path in paths)
    systems = Standing.objects.values_list("system", flat=True)
    assert {f"/systems/{pk}/" for pk in systems} <= set(paths)


def test_drafts_and_anonymous_systems_are_not_listed(world: World, client: Client) -> None:
    hidden = Standing.objects.first()
    assert hidden is not None
    System.objects.filter(pk=hidden.system_id).update(anonymous_until="2100-01-01T00:00Z", anonymous_number=1)
    assert f"/systems/{hidden.system_id}/" not in listed(client)
    Benchmark.objects.update(state=Benchmark.State.DRAFT)
    assert not [path for path in listed(client) if "tiny" in path or "systems" in path]


def test_robots_name_the_sitemap(client: Client) -> None:
    text = client.get("/robots.txt").content.decode()
    assert f"Sitemap: {settings.BASE_URL}/sitemap.xml" in text and "Disallow: /accounts/" in text


def test_a_board_has_one_canonical_address_and_a_preview_with_its_leaders(world: World, client: Client) -> None:
    canonical = f'<link rel="canonical" href="{settings.BASE_URL}{PAGE}">'
    assert canonical in client.get(f"{PAGE}?sort=system&order=asc").content.decode()
    preview = tags(client, PAGE)
    assert preview["og:title"] == "Tiny claims, Test: leaderboard" and preview["twitter:card"] == "summary"
    first = "Accuracy: 1. First &quot;best&quot; &lt;b&gt; 0.800; 2. Second 0.700. 2 systems."
    assert preview["og:description"].startswith(first)
    assert preview["description"] == preview["og:description"]
    on_a_slice = tags(client, f"{PAGE}?slice=origin:generated")["og:description"]
    assert on_a_slice.startswith("2 systems."), "the ranks are those of all units"


def test_previews_have_the_picture_of_the_board_that_everybody_sees(
    world: World, client: Client, settings: Any
) -> None:
    assert "og:image" not in tags(client, PAGE), "pictures are off"
    settings.PLOT_PICTURES = True
    picture = f"{settings.BASE_URL}{PAGE}plots/intervals.png"
    for address in (PAGE, "/benchmarks/tiny/"):
        preview = tags(client, address)
        assert (preview["og:image"], preview["twitter:card"]) == (picture, "summary_large_image")
    assert resolve(urlsplit(picture).path).url_name == "plot_png"
    assert "og:image" not in tags(client, f"{PAGE}?search=none"), "a view without systems has no plot"
    assert "og:image" not in tags(client, f"{PAGE}?as_of={timezone.now():%Y-%m-%d}"), (
        "the picture is of the board of now"
    )
    world.benchmark.organisers.add(world.researcher)
    client.force_login(world.researcher)
    Leaderboard.objects.update(state=Leaderboard.State.PREPARING)
    assert not {"og:image"} & {*tags(client, PAGE), *tags(client, "/benchmarks/tiny/")}
    Benchmark.objects.update(state=Benchmark.State.DRAFT)
    assert not {"og:title", "og:image"} & {*tags(client, PAGE), *tags(client, "/benchmarks/tiny/")}


def test_a_preview_names_no_anonymous_system_and_no_draft(world: World, client: Client) -> None:
    System.objects.filter(name="Second").update(anonymous_until="2100-01-01T00:00Z", anonymous_number=7)
    client.force_login(world.researcher)  # of its team, who sees the name
    page = client.get(PAGE).content.decode()
    assert "Second" in page and "Second" not in str(tags(client, PAGE))
    world.benchmark.organisers.add(world.researcher)
    Benchmark.objects.update(state=Benchmark.State.DRAFT)
    assert "og:title" not in tags(client, PAGE) and "First" not in str(tags(client, PAGE))


def citation_tags(client: Client) -> list[tuple[str, str]]:
    page = client.get("/benchmarks/tiny/").content.decode()
    return re.findall(r'<meta name="citation_([a-z_]+)" content="([^"]*)">', page)


def test_a_benchmark_with_a_paper_has_tags_for_reference_managers(world: World, client: Client) -> None:
    assert citation_tags(client) == []
    organisers = "Ada King, Analytical Society, https://ada.example\nThe <Society>"
    Benchmark.objects.update(paper_url="https://arxiv.org/abs/1803.05355v2", shown_organisers=organisers)
    created = world.benchmark.created_at
    expected = [
        ("title", "Tiny claims"),
        ("author", "Ada King"),
        ("author_institution", "Analytical Society"),
        ("author", "The &lt;Society&gt;"),
        ("publication_date", f"{created:%Y/%m/%d}"),
        ("abstract_html_url", f"{settings.BASE_URL}/benchmarks/tiny/"),
        ("fulltext_html_url", "https://arxiv.org/abs/1803.05355v2"),
        ("arxiv_id", "1803.05355"),
    ]
    assert citation_tags(client) == expected
    for paper, tag in (
        ("https://doi.org/10.18653/v1/N18-1074", ("doi", "10.18653/v1/N18-1074")),
        ("https://papers.example/a.pdf", ("pdf_url", "https://papers.example/a.pdf")),
    ):
        Benchmark.objects.update(paper_url=paper)
        assert citation_tags(client)[-1] == tag
    Benchmark.objects.update(state=Benchmark.State.DRAFT)
    client.force_login(world.curator)
    assert citation_tags(client) == []
