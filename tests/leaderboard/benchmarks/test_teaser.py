"""The picture of a benchmark: uploaded, shown, described and removed by its organisers."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from PIL import Image

from leaderboard.models import AuditEntry, Benchmark, Teaser
from tests.support.rows.tiny_world import World, build

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]
PAGE, MANAGE = "/benchmarks/tiny/", "/manage/benchmarks/tiny/picture/"


@pytest.fixture
def world() -> World:
    return build()


@pytest.fixture
def organiser(world: World) -> Client:
    world.benchmark.organisers.add(world.curator)
    client = Client()
    client.force_login(world.curator)
    return client


def png(colour: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (800, 400), colour).save(out, "PNG")
    return out.getvalue()


def send(client: Client, content: bytes | None = None, text: str = "Two <claims>") -> Any:
    file = {} if content is None else {"file": SimpleUploadedFile("a.png", content)}
    return client.post(MANAGE, {"alternative_text": text, **file})


def test_it_is_on_page_and_card_and_in_previews_of_links(organiser: Client) -> None:
    assert "og:image:alt" not in Client().get(PAGE).content.decode()
    assert send(organiser, png("red")).status_code == 302
    teaser = Teaser.objects.get()
    for page in (PAGE, "/"):
        html = Client().get(page).content.decode()
        assert f'src="{teaser.get_absolute_url()}" width="800" height="400" alt="Two &lt;claims&gt;"' in html
    preview = Client().get(PAGE).content.decode()
    assert 'og:image" content="http' in preview and f'{teaser.get_absolute_url()}">' in preview
    assert '<meta property="og:image:alt" content="Two &lt;claims&gt;">' in preview
    answer = Client().get(teaser.get_absolute_url())
    assert Image.open(io.BytesIO(b"".join(answer))).size == (800, 400)  # type: ignore[call-overload]
    assert (answer["Content-Type"], answer["Content-Length"]) == ("image/png", str(teaser.bytes))
    assert "immutable" in answer["Cache-Control"] and "default-src 'none'" in answer["Content-Security-Policy"]
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_it_is_replaced_described_and_removed(organiser: Client, django_capture_on_commit_callbacks: Any) -> None:
    send(organiser, png("red"))
    first = Teaser.objects.get()
    with django_capture_on_commit_callbacks(execute=True):
        assert send(organiser, png("blue")).status_code == 302
    second, storage = Teaser.objects.get(), first.file.storage
    moved = Client().get(first.get_absolute_url())
    assert (moved.status_code, moved["Location"]) == (302, second.get_absolute_url())
    assert "no-cache" in moved["Cache-Control"]
    assert not storage.exists(str(first.file.name)) and storage.exists(str(second.file.name))
    assert send(organiser, text="A page").status_code == 302
    assert Teaser.objects.get().alternative_text == "A page" and Teaser.objects.get().sha256 == second.sha256
    with django_capture_on_commit_callbacks(execute=True):
        assert organiser.post(f"{MANAGE}remove/").status_code == 302
    assert not Teaser.objects.exists() and not storage.exists(str(second.file.name))
    assert Client().get(first.get_absolute_url()).status_code == 404
    assert "<img" not in Client().get(PAGE).content.decode()
    assert AuditEntry.objects.filter(action__startswith="benchmark.picture").count() == 4


def test_what_is_no_picture_and_what_has_no_description_is_refused(organiser: Client) -> None:
    for content, text, said in (
        (b"<svg/>", "A page", "The file is no picture that is accepted"),
        (png("red"), " ", "This field is required."),
        (None, "A page", "No picture was sent; choose a PNG, JPEG or WebP file."),
        (bytes(8_000_001), "A page", "expected at most 8 MB"),
    ):
        answer = send(organiser, content, text)
        assert answer.status_code in (413, 422) and said in answer.content.decode(), said
    assert not Teaser.objects.exists()


def test_the_picture_of_a_private_benchmark_is_not_cached_by_others(organiser: Client) -> None:
    send(organiser, png("red"))
    Benchmark.objects.update(state="private", access="invited")
    address = Teaser.objects.get().get_absolute_url()
    for same in (address, address.replace(Teaser.objects.get().sha256, "0" * 64)):
        assert Client().get(same).status_code == 404
    assert "private" in organiser.get(address)["Cache-Control"]
