"""Copies of public files in a separate public bucket of the object store, to which downloads are redirected.

A file is copied when it is first downloaded. A copy is named by the file's digest, and is never changed.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from urllib.parse import quote

from django.conf import settings

from leaderboard.models import Benchmark, Download, GoldVersion, Split

SIGNED_SECONDS = 600
"""For how long a signed address is valid. The download only has to begin in that time."""
PublicFile = Split | GoldVersion | Download
"""Rows with a file that may be public: a split's inputs, a version of its gold, an additional file."""


def address(row: PublicFile, *, filename: str, content_type: str) -> str | None:
    """Return the URL of the copy of a row's file in the public bucket; make the copy if there is none.

    Returns None if there is no public bucket or the file is not public (`is_public`): then the site sends the file
    itself. filename: the name under which browsers save the copy. content_type: of the file. Raises
    StoreUnavailableError.
    """
    if not settings.S3_PUBLIC_BUCKET or not is_public(row):
        return None
    stored, sha256 = (row.inputs, row.inputs_sha256) if isinstance(row, Split) else (row.file, row.sha256)
    # Only sites with S3 load its libraries.
    from botocore.exceptions import ClientError

    storage: Any = stored.storage  # a PrivateS3Storage, as settings check
    key = f"{sha256}/{filename}"
    client, where = storage.connection.meta.client, {"Bucket": settings.S3_PUBLIC_BUCKET, "Key": key}
    with storage.request("save"):
        copied = False
        with suppress(ClientError):  # 404, or 403 without the right to list: then it is copied again
            client.head_object(**where)
            copied = True
        if not copied:
            client.copy_object(
                **where,
                CopySource={"Bucket": storage.bucket_name, "Key": f"{storage.location}/{stored.name}"},
                MetadataDirective="REPLACE",
                ContentType=content_type,
                ContentDisposition=f'attachment; filename="{filename}"',
                CacheControl="public, max-age=31536000, immutable",
            )
    if settings.S3_PUBLIC_URL:
        return f"{settings.S3_PUBLIC_URL}/{quote(key)}"
    return str(client.generate_presigned_url("get_object", Params=where, ExpiresIn=SIGNED_SECONDS))


def is_public(row: PublicFile) -> bool:
    """Return whether everybody may download a row's file.

    A public benchmark must use the dataset, and a split's inputs or gold must be public and not of a draft. A file with
    the content of hidden gold or hidden inputs of any dataset is never public.
    """
    split = row if isinstance(row, Split) else row.split if isinstance(row, GoldVersion) else None
    dataset, sha256 = (split or row).dataset_id, row.inputs_sha256 if isinstance(row, Split) else row.sha256  # type: ignore[union-attr]
    if split is not None:
        shown = split.gold_public if isinstance(row, GoldVersion) else bool(split.inputs) and split.inputs_public
        if not shown or split.is_draft:
            return False
    if not Benchmark.objects.filter(dataset=dataset, state=Benchmark.State.PUBLIC).exists():
        return False
    hidden_gold = GoldVersion.objects.filter(sha256=sha256, split__gold_public=False)
    hidden_inputs = Split.objects.filter(inputs_sha256=sha256, inputs_public=False)
    return not hidden_gold.exists() and not hidden_inputs.exists()
