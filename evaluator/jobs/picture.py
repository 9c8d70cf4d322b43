"""Job that encodes an organiser's picture anew: scaled down, without metadata, and certainly an image file.

Pillow is imported when the job first runs, since only a site has it. The sandbox's warm-up runs the job once.
"""

import io
from typing import Any

from evaluator.errors import UsageError
from evaluator.jobs.base import Files, Report, Request

FORMATS = ("PNG", "JPEG", "WEBP")
BOX = (1200, 1200)
"""Maximum width and height of the result in pixels; larger pictures are scaled down."""
LEAST = (200, 100)
"""Minimum width and height in pixels, of the file and of the result: a strip would be scaled down to a line."""
MOST_PIXELS = 25_000_000
JPEG_QUALITY = 85


class ReencodePictureRequest(Request, frozen=True, kw_only=True):
    job = "reencode_picture"


class PictureReport(Report):
    """Result of `reencode_picture`. media_type: image/png or image/jpeg; width, height: in pixels."""

    media_type: str
    width: int
    height: int


def reencode_picture(files: Files, request: ReencodePictureRequest) -> tuple[PictureReport, bytes]:
    """Encode a picture as PNG or JPEG, upright and scaled down to BOX; the result is the attachment. files: `picture`.

    An animation becomes its first frame. Raises UsageError unless the file is a PNG, JPEG or WebP picture of at most
    MOST_PIXELS pixels, and at least LEAST in size before and after scaling.
    """
    image = _read(files["picture"])
    is_jpeg = image.format == "JPEG"
    try:
        image = _upright(_with_8_bits(image))
        image.thumbnail(BOX)
        image = image.convert("RGBA" if image.has_transparency_data else "RGB")
    except MemoryError:
        raise
    except Exception as error:  # Pillow's decoders raise many types for damaged files
        raise UsageError("the picture is damaged; expected a whole PNG, JPEG or WebP file") from error
    _check_least(image.size, "once it is scaled down, ")
    encoded = [] if is_jpeg else [("image/png", _encoded(image, "PNG", optimize=True))]
    if image.mode == "RGB":
        encoded.append(("image/jpeg", _encoded(image, "JPEG", quality=JPEG_QUALITY, optimize=True)))
    media_type, content = min(encoded, key=lambda pair: len(pair[1]))
    return PictureReport(media_type, *image.size), content


def _read(stream: Any) -> Any:
    """Return the opened image, not decoded yet.

    Raises UsageError for another format, or a picture with too many or too few pixels. stream: the file.
    """
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None  # checked below
    try:
        image = Image.open(stream, formats=FORMATS)
    except MemoryError:
        raise
    except Exception as error:
        raise UsageError("the file is no picture that is accepted; expected a PNG, JPEG or WebP file") from error
    width, height = image.size
    if width * height > MOST_PIXELS:
        raise UsageError(f"the picture has {width:,} x {height:,} pixels; expected at most {MOST_PIXELS:,} pixels")
    _check_least(image.size)
    return image


def _check_least(size: tuple[int, int], when: str = "") -> None:
    width, height = size
    if width < LEAST[0] or height < LEAST[1]:
        raise UsageError(f"{when}the picture has {width} x {height} pixels; expected at least {LEAST[0]} x {LEAST[1]}")


def _with_8_bits(image: Any) -> Any:
    """Return the image with 8 bits a channel.

    Pillow's own conversion of grey with 16 bits would make all but the darkest tones white.
    """
    return image.point(lambda grey: grey / 256, "L") if image.mode == "I;16" else image


def _upright(image: Any) -> Any:
    """Return the image, rotated or mirrored as its metadata demand, since the result has no metadata."""
    from PIL import ImageOps

    return ImageOps.exif_transpose(image)


def _encoded(image: Any, kind: str, **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()
