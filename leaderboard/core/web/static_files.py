"""Storage of static files, compressed so fast that the first start hardly notices."""

from __future__ import annotations

from typing import Any

import brotli
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

QUALITY = 7
"""Of Brotli, 0 to 11. Against 11 it takes a thirtieth of the time, 0.2 s for all files, which become a tenth larger."""


class _Compressor(Compressor):
    @staticmethod
    def compress_brotli(data: bytes) -> bytes:
        return bytes(brotli.compress(data, quality=QUALITY))


class StaticFilesStorage(CompressedManifestStaticFilesStorage):
    def create_compressor(self, **kwargs: Any) -> Compressor:
        return _Compressor(**kwargs)
