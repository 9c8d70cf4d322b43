"""A server's API: each request is made here once, for the class `Client`, which makes DataFrames, and the commands."""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import Callable, Mapping
from typing import IO, Any
from urllib.parse import quote

from evaluator.client.http import Body, Server, UnavailableError
from evaluator.errors import UsageError, printable, shown
from evaluator.jsonl.decompress import is_packed

_MOST_PAGES = 1000
_PAGE_SIZE = 500
_CHECKING = 180.0  # seconds: the server validates the predictions
_JOINING = 1800.0  # seconds: the server joins and hashes up to ten gigabytes
PAUSES = (1.0, 3.0, 10.0, 20.0)
"""Seconds before each repetition of a request to which there was no answer."""
_PASSING = (502, 503, 504)
"""Statuses of a server that is away, or whose database is."""
Retry = Callable[[float, UnavailableError], None]
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 5.0
PATIENCE = 20
"""Number of consecutive requests without a response after which polling gives up."""

Row = dict[str, Any]
Metadata = Mapping[str, str | list[str]]
"""What a submission says of itself: `system`, and the API's optional fields, such as `team`, `track` and `fact`."""


class Api(Server):
    """The API of one server. Its methods return what the server answers, as JSON.

    benchmark, phase: their names in addresses. Each method that sends a request raises RefusedError and
    UnavailableError.
    """

    def benchmarks(self, *, search: str = "", task: str = "") -> list[Row]:
        return self._list("benchmarks/", search=search, task=task)

    def benchmark(self, benchmark: str) -> Row:
        return dict(self.get(f"benchmarks/{benchmark}/"))

    def teams(self) -> list[Row]:
        return self._list("teams/")

    def download_inputs(self, benchmark: str, split: str, to: IO[bytes]) -> str:
        """Write a split's public inputs to a file that is open for reading and writing; return their SHA-256.

        Raises UnavailableError also if the SHA-256 of the download is wrong.
        """
        sha256 = self.fetch(f"benchmarks/{benchmark}/splits/{split}/inputs.jsonl", to)
        to.seek(0)
        received = hashlib.file_digest(to, "sha256").hexdigest()  # type: ignore[arg-type]
        if received != sha256:
            raise UnavailableError(
                f"the download is damaged: its sha256 is {received}, expected {printable(sha256)}; try again"
            )
        return sha256

    # Submissions

    def submit(
        self,
        benchmark: str,
        phase: str,
        predictions: IO[bytes],
        *,
        name: str,
        metadata: Metadata,
        on_retry: Retry | None = None,
    ) -> Row:
        """Submit a predictions file. name: the file's name. on_retry: as for `send_once`."""
        return send_once(
            lambda key: self.send_predictions(benchmark, phase, predictions, name=name, metadata=metadata, key=key),
            on_retry=on_retry,
        )

    def send_predictions(
        self, benchmark: str, phase: str, body: Body, *, name: str, metadata: Metadata, key: str
    ) -> Row:
        """Send a predictions file once.

        body: bytes, or a file, which is sent from its start. name: the file's name; one that ends in .gz is compressed.
        metadata: empty fields are left out. key: see `send_once`.
        """
        if not isinstance(body, bytes):
            body.seek(0)
        query = {**{key: value for key, value in metadata.items() if value}, "name": name}
        kind = "application/gzip" if is_packed(name) else "application/x-ndjson"
        path = f"{_phase(benchmark, phase)}/submissions/"
        return dict(
            self.request("POST", path, query=query, body=body, content_type=kind, headers=_key(key), seconds=_CHECKING)
        )

    def submit_reference(
        self, benchmark: str, phase: str, reference: str, metadata: Metadata, on_retry: Retry | None = None
    ) -> Row:
        """Submit an image in a registry. reference: `registry/name@sha256:...`."""
        path, payload = f"{_phase(benchmark, phase)}/images/references/", {**metadata, "reference": reference}
        return send_once(lambda key: dict(self.post(path, payload, headers=_key(key))), on_retry=on_retry)

    def submit_upload(self, upload: str, metadata: Metadata, on_retry: Retry | None = None) -> Row:
        """Submit an image whose archive has been uploaded. upload: the upload's id."""
        path = f"image-uploads/{upload}/submission/"
        return send_once(
            lambda key: dict(self.post(path, metadata, headers=_key(key), seconds=_JOINING)), on_retry=on_retry
        )

    def submissions(self, **filters: str) -> list[Row]:
        """Return the submissions of the user's teams, the latest first. filters: parameters of the API's list."""
        return self._list("submissions/", **filters)

    def submission(self, submission: str) -> Row:
        return dict(self.get(f"{_submission(submission)}/"))

    def wait(self, submission: str, *, on_status: Callable[[str], None] = lambda _: None) -> Row:
        """Wait until a submission is finished, and return it. on_status: as for `wait_until_finished`."""
        return wait_until_finished(lambda: self.submission(submission), on_status=on_status)

    def scores(self, submission: str) -> Row:
        """Return the revealed scores. Raises RefusedError with the code `not_ready` if there are none."""
        return dict(self.get(f"{_submission(submission)}/scores/"))

    def set_hidden(self, submission: str, *, hidden: bool) -> Row:
        """Hide a submission of the user's teams from the boards, or show it again; return it."""
        return dict(self.request("POST" if hidden else "DELETE", f"{_submission(submission)}/hidden/"))

    def own_system(self, name: str, team: str = "") -> Row:
        """Return the system of this name, ignoring case, of the user's teams. team: the name of its team; empty: any.

        Raises UsageError unless there is exactly one.
        """
        found = [
            row
            for row in self._list("systems/")
            if row["name"].casefold() == name.casefold() and team.casefold() in ("", row["team"].casefold())
        ]
        if len(found) != 1:
            teams = ", ".join(printable(row["team"]) for row in found)
            expected = f"also its team, one of: {teams}" if found else "the name of a system of your teams"
            raise UsageError(f"system is {shown(name)}, expected {expected}")
        return found[0]

    def rename_system(self, system: Row, name: str) -> Row:
        """Rename a system, as `own_system` returns it; return the renamed one."""
        return dict(self.post(f"systems/{system['id']}/name/", {"name": name}))

    # Boards

    def board(self, benchmark: str, phase: str, *, top: int | None = None, **query: str) -> Row:
        """Return a board with the rows of all its pages. top: only this many rows, at most a page; None: all.

        query: the parameters of the API's request; empty ones are left out.
        """
        path = f"{_phase(benchmark, phase)}/leaderboard/"
        query = {name: value for name, value in query.items() if value}
        if top is not None:
            return dict(self.get(path, **query, page_size=str(min(top, _PAGE_SIZE))))
        return {**self._pages(path, query, "rows"), "next": None}

    def export_board(self, benchmark: str, phase: str, to: IO[bytes], *, extension: str, **query: str) -> None:
        """Write a board to an open file in a format that the server renders, such as `csv`. query: as for `board`."""
        query = {name: value for name, value in query.items() if value}
        self.fetch(f"{_phase(benchmark, phase)}/leaderboard.{extension}", to, query=query)

    def comparisons(self, benchmark: str, phase: str) -> Row:
        """Return the comparisons of ranked systems, with the `results` of all pages."""
        return self._pages(f"{_phase(benchmark, phase)}/leaderboard/comparisons/", {}, "results")

    def plot(self, benchmark: str, phase: str, name: str, **query: str) -> Row:
        """Return the Vega-Lite specification of a plot. query: the parameters that the plot's page on the site has."""
        return dict(self.get(f"{_phase(benchmark, phase)}/leaderboard/plots/{name}/", **query))

    def _list(self, path: str, **query: str) -> list[Row]:
        return list(self._pages(path, query, "results")["results"])

    def _pages(self, path: str, query: Mapping[str, str], key: str) -> Row:
        """Return the first page of a list, in which the list under `key` is replaced by the entries of all pages."""
        first: Row = self.get(path, **query, page_size=str(_PAGE_SIZE))
        following = first["next"]
        for page in range(2, _MOST_PAGES):
            if not following:
                break
            more = self.get(path, **query, page_size=str(_PAGE_SIZE), page=str(page))
            first[key] += more[key]
            following = more["next"]
        return first


def find_phase(benchmark: Any, phase: str | None) -> Row:
    """Return the phase with the short name `phase` of a benchmark, both in the form of the API.

    phase: None if the command line names no phase, which is an error too. Raises UsageError if there is no such phase.
    """
    phases: dict[str, Row] = {row["slug"]: row for row in benchmark["phases"]}
    if phase not in phases:
        text = "--phase is not given" if phase is None else f"phase is {shown(phase)}"
        raise UsageError(f"{text}, expected a phase of the benchmark: {', '.join(phases) or 'it has none'}")
    return phases[phase]


def _phase(benchmark: str, phase: str) -> str:
    return f"benchmarks/{benchmark}/phases/{phase}"


def _submission(submission: str) -> str:
    return f"submissions/{quote(submission, safe='')}"


def _key(key: str) -> dict[str, str]:
    """Return the header by which the server recognises a repeated submission."""
    return {"Idempotency-Key": key}


def send_once(
    send: Callable[[str], dict[str, Any]],
    *,
    on_retry: Retry | None = None,
    pause: Callable[[float], None] | None = None,
) -> dict[str, Any]:
    """Send a submission, and repeat the request while the server does not answer; return the submission.

    send: sends the submission with an idempotency key and returns it. All repetitions have the same key, so that the
    server makes only one submission, whichever of its answers were lost. on_retry: called before each repetition with
    the seconds until then and the error. pause: sleeps for a number of seconds; None: `time.sleep`. Raises the error of
    `send` if it is not one that passes, or remains after PAUSES; at once if nothing listens at the server's address.
    """
    key = str(uuid.uuid4())
    for n, seconds in enumerate(PAUSES):
        try:
            return send(key)
        except UnavailableError as error:
            if error.status is not None and error.status not in _PASSING:
                raise
            if error.nothing_listens and n == 0:
                raise
            if on_retry is not None:
                on_retry(seconds, error)
            (pause or time.sleep)(seconds)
    return send(key)


def wait_until_finished(
    ask: Callable[[], dict[str, Any]],
    *,
    on_status: Callable[[str], None] = lambda _: None,
    pause: Callable[[float], None] | None = None,
) -> dict[str, Any]:
    """Poll a submission and return it, as the API represents it, once it is finished.

    ask: requests the submission. on_status: called after each request with the status of the unfinished submission in
    words. pause: sleeps for a number of seconds; None: `time.sleep`. Raises RefusedError, and UnavailableError after
    PATIENCE requests in a row without a response.
    """
    pause = pause or time.sleep
    interval, failures, last_status = FIRST_PAUSE, 0, ""
    while True:
        try:
            submission_data: dict[str, Any] = ask()
            failures = 0
        except UnavailableError:
            failures += 1
            if failures >= PATIENCE:
                raise
            pause(LONGEST_PAUSE)
            continue
        if submission_data["is_over"]:
            return submission_data
        status = _status_text(submission_data)
        on_status(status)
        if status != last_status:
            last_status, interval = status, FIRST_PAUSE
        pause(interval)
        interval = min(interval * 1.5, LONGEST_PAUSE)


def _status_text(submission: dict[str, Any]) -> str:
    position = submission["queue_position"]
    waiting = f", {position} ahead of it" if submission["state"] == "queued" and position is not None else ""
    stage = f", {submission['stage']}" if submission.get("stage") else ""
    return f"{submission['state']}{waiting}{stage}"
