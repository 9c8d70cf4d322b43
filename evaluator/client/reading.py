"""Reading from a server: lists, boards on several pages, phases, and inputs with a check of their digest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import IO, Any
from urllib.parse import quote

from evaluator.client.http import Server, UnavailableError
from evaluator.errors import UsageError, printable, shown

_MOST_PAGES = 1000
_PAGE_SIZE = "500"


def read_list(server: Server, path: str, **query: str) -> list[dict[str, Any]]:
    """Return the entries of a list of the API, from all its pages. path: the list's address, below `/api/v1/`."""
    return list(read_pages(server, path, query, "results")["results"])


def read_board(server: Server, benchmark: str, phase: str, query: Mapping[str, str]) -> dict[str, Any]:
    """Return a board as the API represents it, with the rows of all its pages. query: the request's parameters."""
    return {**read_pages(server, f"{phase_path(benchmark, phase)}/leaderboard/", query, "rows"), "next": None}


def read_pages(server: Server, path: str, query: Mapping[str, str], key: str) -> dict[str, Any]:
    """Return the first page of a list, in which the list under `key` is replaced by the entries of all pages.

    path: below `/api/v1/`. query: the parameters. Raises RefusedError, UnavailableError.
    """
    first: dict[str, Any] = server.get(path, **query, page_size=_PAGE_SIZE)
    following = first["next"]
    for page in range(2, _MOST_PAGES):
        if not following:
            break
        more = server.get(path, **query, page_size=_PAGE_SIZE, page=str(page))
        first[key] += more[key]
        following = more["next"]
    return first


def phase_path(benchmark: str, phase: str) -> str:
    """Return the address of a phase in the API, without `/api/v1/`."""
    return f"benchmarks/{benchmark}/phases/{phase}"


def submission_path(submission: str) -> str:
    """Return the address of a submission in the API, without `/api/v1/`."""
    return f"submissions/{quote(submission, safe='')}"


def find_phase(benchmark: Any, phase: str | None) -> dict[str, Any]:
    """Return the phase with the short name `phase` of a benchmark, both in the form of the API.

    phase: None if the command line names no phase, which is an error too. Raises UsageError if there is no such phase.
    """
    phases: dict[str, dict[str, Any]] = {row["slug"]: row for row in benchmark["phases"]}
    if phase not in phases:
        text = "--phase is not given" if phase is None else f"phase is {shown(phase)}"
        raise UsageError(f"{text}, expected a phase of the benchmark: {', '.join(phases) or 'it has none'}")
    return phases[phase]


def find_own_system(server: Server, name: str, team: str) -> dict[str, Any]:
    """Return the system of this name, ignoring case, of the user's teams. team: the name of its team; empty: any.

    Raises UsageError unless there is exactly one.
    """
    found = [
        row
        for row in read_list(server, "systems/")
        if row["name"].casefold() == name.casefold() and team.casefold() in ("", row["team"].casefold())
    ]
    if len(found) != 1:
        teams = ", ".join(printable(row["team"]) for row in found)
        expected = f"also its team, one of: {teams}" if found else "the name of a system of your teams"
        raise UsageError(f"system is {shown(name)}, expected {expected}")
    return found[0]


def download_inputs(server: Server, benchmark: str, split: str, to: IO[bytes]) -> str:
    """Write a split's public inputs to a file that is open for reading and writing; return their SHA-256.

    Raises UnavailableError also if the SHA-256 of the download is wrong.
    """
    sha256 = server.fetch(f"benchmarks/{benchmark}/splits/{split}/inputs.jsonl", to)
    to.seek(0)
    received = hashlib.file_digest(to, "sha256").hexdigest()  # type: ignore[arg-type]
    if received != sha256:
        raise UnavailableError(
            f"the download is damaged: its sha256 is {received}, expected {printable(sha256)}; try again"
        )
    return sha256
