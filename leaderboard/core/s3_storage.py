"""Storage backend of files in an S3 store, for sites that name one (HOLDOUT_S3_BUCKET).

No page waits long for a store that does not respond: each request to the store has a timeout and is made at most
twice, and is not made at all if the store has just failed a quick check (`PrivateS3Storage.check`). The error is then
StoreUnavailableError, for which pages and API return a 503.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import IO, Any, ClassVar

from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ConnectTimeoutError, ReadTimeoutError
from s3transfer.exceptions import RetriesExceededError
from storages.backends.s3 import S3File, S3Storage
from storages.utils import clean_name

from leaderboard.core.storage import NoUrl
from leaderboard.core.store_errors import S3_ERRORS, TIMEOUTS, StoreUnavailableError, is_timeout, recorded

S3_ERRORS.extend((BotoCoreError, ClientError, Boto3Error, RetriesExceededError))
TIMEOUTS.extend((ConnectTimeoutError, ReadTimeoutError))
CHECK_SECONDS = 2.0
"""Timeout of the check whether an S3 store responds."""
CHECK_VALID_SECONDS = 5.0
"""For how long the result of a check is used, so that neither monitors nor uploads add many requests."""
_TRANSFER_THREADS = 4
_WEB_THREADS = 8
"""Threads of one web process (`leaderboard.operations.processes`)."""


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

    is_remote = True
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
