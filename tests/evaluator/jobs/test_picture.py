"""The job that encodes pictures anew: within limits, upright, without metadata, and nothing but pictures."""

from __future__ import annotations

import io
from typing import Any

import pytest
from PIL import Image

from evaluator.jobs import JOBS

NOISE = Image.effect_noise((400, 300), 80).convert("RGB")


def encoded(content: bytes) -> tuple[dict[str, Any], bytes]:
    return JOBS["reencode_picture"]({"picture": io.BytesIO(content)}, {})


def picture(image: Image.Image, kind: str, **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_pictures_are_scaled_turned_and_stripped(kind: str) -> None:
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "taken at home"  # turned by a quarter
    report, content = encoded(picture(NOISE.resize((3000, 1500)), kind, exif=exif) + b"<script>")
    assert (report["ok"], report["width"], report["height"]) == (True, 600, 1200)
    result = Image.open(io.BytesIO(content))
    assert result.size == (600, 1200) and result.get_format_mimetype() == report["media_type"] == "image/jpeg"
    assert not result.getexif() and b"home" not in content and b"script" not in content


def test_the_smaller_encoding_is_kept_and_transparency() -> None:
    drawing = Image.new("RGB", (400, 300), "white")
    drawing.paste("black", (20, 20, 380, 40))
    for image, media_type in (
        (drawing, "image/png"),
        (NOISE, "image/jpeg"),
        (Image.new("RGBA", (400, 300)), "image/png"),
    ):
        report, content = encoded(picture(image, "PNG"))
        assert (report["media_type"], report["width"]) == (media_type, 400)
        assert Image.open(io.BytesIO(content)).mode == image.mode


def test_16_bits_of_grey_stay_grey() -> None:
    _, content = encoded(picture(Image.new("I;16", (400, 300), 40_000), "PNG"))
    assert Image.open(io.BytesIO(content)).convert("L").getpixel((9, 9)) == 40_000 // 256


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'<svg xmlns="http://www.w3.org/2000/svg" width="300" height="300"/>', "no picture that is accepted"),
        (b"", "no picture that is accepted"),
        (picture(NOISE, "GIF"), "no picture that is accepted"),
        (picture(NOISE, "PNG")[:2000], "is damaged"),
        (picture(NOISE, "JPEG")[:2000], "is damaged"),
        (picture(Image.new("1", (10_000, 10_000)), "PNG"), "expected at most 25,000,000 pixels"),
        (picture(Image.new("1", (150, 150)), "PNG"), "expected at least 200 x 100"),
        (picture(Image.new("1", (20_000, 100)), "PNG"), "scaled down, the picture has 1200 x 6 pixels"),
    ],
    ids=["svg", "empty", "gif", "half a png", "half a jpeg", "bomb", "tiny", "strip"],
)
def test_other_files_are_refused(content: bytes, expected: str) -> None:
    report, attachment = encoded(content)
    assert not report["ok"] and expected in report["problems"][0]["text"] and not attachment
