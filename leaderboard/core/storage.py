"""Storage backends without URLs: files are streamed by views that check permissions.

No page waits long for an S3 store that does not respond: each request to the store has a timeout and is made at most
twice, and is not made at all if the store has just failed a quick check (`PrivateS3Storage.check`). The error is then
StoreUnavailableError, for which pages and API return a 503.
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
    """Local file storage whose files have no URL. The settings make files readable only for the server's system user.

    A file gets its name only once it is complete; if the disk is full, the incomplete file is deleted.
    """

    def check(self) -> None:
        """Raise OSError if the storage's folder (or the nearest parent, if it does not exist yet) is not writable."""
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
        """Open a file for reading at the byte offset `start`. The caller must not read beyond the offset `stop`.

        `PrivateS3Storage.open_range` transfers only these bytes. stop: exclusive end, greater than `start`.
        """
        with recorded("open"):
            file: IO[bytes] = super()._open(name, "rb")  # type: ignore[misc]  # the stubs lack it
        file.seek(start)
        return file


@dataclass
class _Check:
    """The latest check whether an S3 bucket responds.

    client: boto3 client with short timeouts. ended: time of the check, in seconds of `time.monotonic`; -inf before the
    first one. error: of the check; None if the bucket responded.
    """

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
    """Private S3 bucket without URLs. Operations raise StoreUnavailableError, or FileNotFoundError for a missing file.

    seconds: timeout of connecting to the store, and of each wait for data. Every request is made at most twice. A
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
        """Raise StoreUnavailableError if the bucket does not respond to a small request.

        The result of a check is used for CHECK_VALID_SECONDS in this process. A check waits at most CHECK_SECONDS for
        the connection, and as long again for the response. Any request that times out counts as a failed check.
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
        """Context manager for requests to the store. Raises StoreUnavailableError for their errors.

        Raises it without executing the block if the bucket has failed its latest check (`check`). operation: one of
        `store_errors.OPERATIONS`, under which errors are counted.
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
        """Return a stream of a file's bytes from offset `start` to before `stop`; no other part is transferred.

        Raises FileNotFoundError, or StoreUnavailableError.
        """
        with self.request("read"):
            return self._get(name, Range=f"bytes={start}-{stop - 1}")

    def download(self, name: str, into: IO[bytes]) -> None:
        """Write the content of a stored file to `into`, with one request to the store.

        Raises FileNotFoundError, or StoreUnavailableError.
        """
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
    """Return whether the file store responds; always True if the files are in local folders."""
    storage = storages["predictions"]
    if not isinstance(storage, PrivateS3Storage):
        return True
    try:
        storage.check()
    except StoreUnavailableError:
        return False
    return True


def is_store_gone() -> bool:
    """Return whether the local folders in which files were stored have none, as if they were not mounted.

    Call where a stored file was not found. False if the files are in S3, which says itself that it is away.
    """
    local = [storage for alias in ("predictions", "gold") if isinstance(storage := storages[alias], FileSystemStorage)]
    return any(next(Path(storage.location).glob("*"), None) is None for storage in local)


def save_unique(storage: Storage, name: str, content: File[bytes]) -> str:
    """Store a file under a name that no other file can have, and return the name.

    Such a name contains a random UUID, or the number of an attempt that only one worker makes. Unlike `Storage.save`,
    this makes no request to find out whether the name is taken.
    """
    return str(storage._save(name, content))  # type: ignore[attr-defined]  # the stubs lack it


def delete_after_commit(stored: FieldFile) -> None:
    """Delete a stored file once the current transaction has committed; without a transaction, at once.

    An error of the store is only logged, because it would make a committed request look failed; `manage.py cleanup`
    lists the file that remains.
    """
    storage, name = stored.storage, str(stored.name)
    transaction.on_commit(lambda: storage.delete(name), robust=True)


@contextmanager
def deleted_on_failure(storage: Storage, name: str) -> Iterator[None]:
    """Delete the stored file `name` if the `with` block, which commits the file's database record, raises an exception.

    If the connection to the database was lost during COMMIT, the record may exist, and the file stays: a file without a
    record is harmless, and `manage.py cleanup` lists it. name: if it is empty, nothing is deleted.
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
    """Return the first `n` bytes of a stored file without reading the rest; all bytes if the file is smaller."""
    storage: Any = stored.storage
    with closing(storage.open_range(str(stored.name), 0, n)) as file, recorded("read"):
        return bytes(file.read(n))


@contextmanager
def opened(stored: FieldFile, *, sha256: str = "") -> Iterator[IO[bytes]]:
    """Open a stored file for reading, as a local file with a file descriptor, which the sandbox needs.

    A file of a remote storage (S3) has no file descriptor, so it is first copied to a local file. sha256: digest of the
    file's content, for a file that many jobs read: the copy is then kept in the `file_cache`, and used by later calls;
    empty: the copy is deleted. The content is not verified; see `check_digest`.
    """
    storage = stored.storage
    if not isinstance(storage, PrivateS3Storage):
        with stored.open("rb") as source:
            yield source.file
        return
    name = str(stored.name)
    with file_cache.opened(sha256, lambda spool: storage.download(name, spool)) as spool:
        yield spool
