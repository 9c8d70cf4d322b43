"""Storage backends without URLs: files are streamed by views that check permissions.

No request waits long for an S3 store that does not respond: each request to it has a timeout and is made at most twice,
and if the store did not answer a quick check just before, none is made (`PrivateS3Storage.check`). The error is then
StoreUnavailableError, which pages and API answer with 503.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import IO, Any, ClassVar
from uuid import uuid4

from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError
from django.core.files import File
from django.core.files.move import file_move_safe
from django.core.files.storage import FileSystemStorage, Storage, storages
from django.db import transaction
from django.db.models.fields.files import FieldFile
from storages.backends.s3 import S3File, S3Storage
from storages.utils import clean_name

from leaderboard.core import db_locks, file_cache
from leaderboard.core.store_errors import StoreUnavailableError, is_timeout, recorded

PARTIAL = ".partial"
"""Suffix of local files that are not complete yet."""
CHECK_SECONDS = 2.0
"""Timeout of the check whether an S3 store responds."""
CHECK_VALID_SECONDS = 5.0
"""For how long the result of a check is used, so that neither monitors nor uploads add many requests."""
_TRANSFER_THREADS = 4
_WEB_THREADS = 8
"""Threads of one web process (`leaderboard.operations.processes`)."""


class NoUrl:
    """Mixin for storages whose files have no URL."""

    def url(self, name: str | None, *_: Any, **__: Any) -> str:
        raise ValueError("files of this storage have no URL; open them with the storage's open() instead")


class PrivateFileStorage(NoUrl, FileSystemStorage):
    """Local file storage whose files have no URL. Settings let only the server's operating-system user read them.

    A file has its name only once it is complete: if the disk is full, no part of it is left.
    """

    def check(self) -> None:
        """Raise OSError if the folder, or the nearest existing one above it, is not writable."""
        folder = Path(self.location)
        while not folder.exists():
            folder = folder.parent
        with recorded("check"):
            if not os.access(folder, os.W_OK | os.X_OK):
                raise PermissionError(f"the folder {folder} is not writable")

    def _open(self, name: str, mode: str = "rb") -> Any:
        with recorded("open"):
            return super()._open(name, mode)  # type: ignore[misc]  # the stubs lack it

    def _save(self, name: str, content: Any) -> str:
        with recorded("save"):
            return self._save_whole(name, content)

    def _save_whole(self, name: str, content: Any) -> str:
        partial = f"{name}.{uuid4().hex}{PARTIAL}"  # no other file can have this name, so it may be deleted
        try:
            super()._save(partial, content)  # type: ignore[misc]  # the stubs lack it
        except BaseException:
            self.delete(partial)
            raise
        while True:
            try:
                file_move_safe(self.path(partial), self.path(name))
            except FileExistsError:
                name = self.get_available_name(name)
            else:
                return name.replace("\\", "/")

    def delete(self, name: str) -> None:
        with recorded("delete"):
            super().delete(name)

    def open_range(self, name: str, start: int, stop: int) -> IO[bytes]:
        """Open a file at the byte `start`. The caller reads no further than `stop`, which is more than `start`."""
        with recorded("open"):
            file: IO[bytes] = super()._open(name, "rb")  # type: ignore[misc]  # the stubs lack it
        file.seek(start)
        return file


@dataclass
class _Check:
    """The latest check of a bucket. ended: monotonic time. error: None if the bucket responded."""

    client: Any
    ended: float = float("-inf")
    error: BaseException | None = None


class _Download(S3File):
    """A file of an S3 bucket, downloaded when it is first read. A failed download leaves no partial content."""

    _file: Any

    def _get_file(self) -> Any:
        if self._file is not None:
            return self._file
        try:
            with self._storage.request("read"):
                return super()._get_file()
        except BaseException:
            self._file = None
            raise

    file = property(_get_file, S3File._set_file)


class PrivateS3Storage(NoUrl, S3Storage):
    """Private S3 bucket without URLs, whose errors are StoreUnavailableError, or FileNotFoundError for a missing file.

    seconds: timeout of connecting to the store, and of each wait for it. Every request is made at most twice. A
    download that was cut off is not resumed: readers would have to wait for two more requests.
    """

    _checks: ClassVar[dict[tuple[str | None, str], _Check]] = {}
    """Endpoint and bucket -> their latest check."""
    _lock = Lock()

    def __init__(self, *, seconds: float = 5.0, **options: Any) -> None:
        config = Config(
            connect_timeout=seconds,
            read_timeout=seconds,
            retries={"mode": "standard", "total_max_attempts": 2},
            max_pool_connections=_WEB_THREADS * _TRANSFER_THREADS,
        )
        transfer = TransferConfig(max_concurrency=_TRANSFER_THREADS, num_download_attempts=1)
        super().__init__(client_config=config, transfer_config=transfer, **options)

    def check(self) -> None:
        """Raise StoreUnavailableError if the bucket does not respond, or did not when it was last checked.

        A result is valid for CHECK_VALID_SECONDS in this process. A check waits at most CHECK_SECONDS for the
        connection, and as long for the response. A request that timed out counts as a failed check.
        """
        with self._lock:
            check = self._latest()
            if time.monotonic() - check.ended > CHECK_VALID_SECONDS:
                try:
                    with recorded("check"):
                        check.client.head_bucket(Bucket=self.bucket_name)
                    check.error = None
                except StoreUnavailableError as error:
                    check.error = error.__cause__
                check.ended = time.monotonic()
            failure = check.error
        if failure is not None:
            raise StoreUnavailableError from failure

    def _latest(self) -> _Check:
        bucket = (self.endpoint_url, self.bucket_name)
        if bucket not in self._checks:
            self._checks[bucket] = _Check(self._quick_client())
        return self._checks[bucket]

    def _quick_client(self) -> Any:
        quick = Config(connect_timeout=CHECK_SECONDS, read_timeout=CHECK_SECONDS, retries={"total_max_attempts": 1})
        return self._create_session().client(
            "s3",
            region_name=self.region_name,
            use_ssl=self.use_ssl,
            endpoint_url=self.endpoint_url,
            config=self.client_config.merge(quick),
            verify=self.verify,
        )

    @contextmanager
    def request(self, operation: str) -> Iterator[None]:
        """Make requests to the store in this block, unless it does not respond; raises StoreUnavailableError.

        operation: one of `store_errors.OPERATIONS`.
        """
        self.check()
        try:
            with recorded(operation):
                yield
        except StoreUnavailableError as error:
            if is_timeout(error.__cause__):
                # The requests that wait for a thread meanwhile need not wait for the store as long again.
                with self._lock:
                    check = self._latest()
                    check.error, check.ended = error.__cause__, time.monotonic()
            raise

    def _open(self, name: str, mode: str = "rb") -> S3File:
        key = self._normalize_name(clean_name(name))
        with self.request("open"):
            try:
                return _Download(key, mode, self)
            except ClientError as error:
                if error.response["ResponseMetadata"]["HTTPStatusCode"] == 404:
                    raise FileNotFoundError(f"the store has no file {key}") from error
                raise

    def _save(self, name: str, content: Any) -> str:
        self.check()
        try:
            with self.request("save"):
                return str(super()._save(name, content))
        except StoreUnavailableError:
            # The store may have the file although its response did not arrive.
            key = self._normalize_name(clean_name(name))
            with suppress(StoreUnavailableError), recorded("delete"):
                self._latest().client.delete_object(Bucket=self.bucket_name, Key=key)
            raise

    def open_range(self, name: str, start: int, stop: int) -> Any:
        """Return a stream of the bytes from `start` to before `stop`; no other part of the file is transferred.

        Raises FileNotFoundError; StoreUnavailableError.
        """
        with self.request("read"):
            return self._get(name, Range=f"bytes={start}-{stop - 1}")

    def download(self, name: str, into: IO[bytes]) -> None:
        """Copy a file's content, in one request. Raises FileNotFoundError; StoreUnavailableError."""
        with self.request("read"):
            shutil.copyfileobj(self._get(name), into, 1 << 20)

    def _get(self, name: str, **options: str) -> Any:
        key = self._normalize_name(clean_name(name))
        try:
            return self.connection.meta.client.get_object(Bucket=self.bucket_name, Key=key, **options)["Body"]
        except ClientError as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] == 404:
                raise FileNotFoundError(f"the store has no file {key}") from error
            raise

    def delete(self, name: str) -> None:
        with self.request("delete"):
            super().delete(name)

    def exists(self, name: str) -> bool:
        with self.request("exists"):
            return bool(super().exists(name))

    def listdir(self, name: str) -> tuple[list[str], list[str]]:
        with self.request("list"):
            folders, files = super().listdir(name)
            return folders, files

    def size(self, name: str) -> int:
        with self.request("size"):
            return int(super().size(name))

    def get_modified_time(self, name: str) -> datetime:
        with self.request("size"):
            modified: datetime = super().get_modified_time(name)
            return modified


def check_stores() -> None:
    """Raise StoreUnavailableError if the S3 store does not respond, or OSError if a local folder is not writable."""
    for alias in ("predictions", "gold"):
        storages[alias].check()  # type: ignore[attr-defined]  # the class of all stored files is one of the two above


def store_responds() -> bool:
    """Return False if the files are in S3 and the store does not respond."""
    storage = storages["predictions"]
    if not isinstance(storage, PrivateS3Storage):
        return True
    try:
        storage.check()
    except StoreUnavailableError:
        return False
    return True


def save_unique(storage: Storage, name: str, content: File[bytes]) -> str:
    """Store a file under a name that only the caller can write, without asking whether it is free; return the name.

    Such a name contains a random UUID, or the number of an attempt, which only one worker has. `Storage.save` makes a
    request for each new file to learn whether its name is taken.
    """
    return str(storage._save(name, content))  # type: ignore[attr-defined]  # the stubs lack it


def delete_after_commit(stored: FieldFile) -> None:
    """Delete a stored file once the transaction has committed; without a transaction, now.

    If the store does not delete the file, this is only logged, and `manage.py cleanup` lists the file: an error would
    make a committed request look failed.
    """
    storage, name = stored.storage, str(stored.name)
    transaction.on_commit(lambda: storage.delete(name), robust=True)


@contextmanager
def deleted_on_failure(storage: Storage, name: str) -> Iterator[None]:
    """Delete a stored file, unless its name is empty, if the block that commits its record raises an exception.

    If the connection to the database was lost during COMMIT, the record may exist. The file then stays: one without a
    record is harmless, and `manage.py cleanup` lists it.
    """
    try:
        yield
    except BaseException as error:
        if name and not db_locks.is_commit_unknown(error):
            storage.delete(name)
        raise


class AlteredError(Exception):
    """Error: a stored file no longer has the SHA-256 digest that was recorded in the database when it was stored."""


def check_digest(file: IO[bytes], expected: str) -> None:
    """Verify that an open file has the SHA-256 digest `expected` (hexadecimal), and rewind it to its start.

    Raises AlteredError if the digest differs.
    """
    file.seek(0)
    with recorded("read"):
        digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    if digest != expected:
        raise AlteredError(f"a stored file has the SHA-256 digest {digest}; expected the recorded one, {expected}")
    file.seek(0)


def first_bytes(stored: FieldFile, n: int) -> bytes:
    """Return the first `n` bytes of a stored file, without reading the rest; a smaller file is returned whole."""
    storage: Any = stored.storage
    with closing(storage.open_range(str(stored.name), 0, n)) as file, recorded("read"):
        return bytes(file.read(n))


@contextmanager
def opened(stored: FieldFile, *, sha256: str = "") -> Iterator[IO[bytes]]:
    """Open a stored file for reading, as a local file with a file descriptor, which the sandbox needs.

    A file of a remote storage (S3) has no file descriptor, so it is first copied to a local file. sha256: the file's
    recorded digest, if many jobs read the file: the copy is then kept, and found by the digest (`file_cache`). The file
    is not verified; see `check_digest`.
    """
    storage = stored.storage
    if not isinstance(storage, PrivateS3Storage):
        with stored.open("rb") as source:
            yield source.file
        return
    name = str(stored.name)
    with file_cache.opened(sha256, lambda spool: storage.download(name, spool)) as spool:
        yield spool
