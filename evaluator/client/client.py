"""The class `Client`: a server's benchmarks, submissions, scores and boards for Python and notebooks."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from evaluator.client import frames
from evaluator.client.api import Api, find_phase
from evaluator.client.http import RefusedError
from evaluator.client.tokens import OPEN_CONNECTION, find_address, find_token
from evaluator.errors import UsageError, shown

if TYPE_CHECKING:
    from pandas import DataFrame

    Predictions = DataFrame | str | os.PathLike[str] | Iterable[Mapping[str, Any]]
    """A DataFrame with a row per line, the path of a `.jsonl` or `.jsonl.gz` file, or one dict per line."""

Submission = str | Mapping[str, Any]
"""A submission's id, or what `Client.submit` returned."""


class Client:
    """Client of one server.

    Benchmarks and phases are given by their names in addresses, such as `mirror-claims` and `test`. Every method that
    sends a request raises `RefusedError` if the server refuses it: `code` and `message` say why, `problems` has the
    invalid lines of a file. It raises `UnavailableError` if the server does not respond, and `UsageError` for invalid
    arguments. Methods that return a DataFrame need pandas: `pip install 'holdout-eval[notebook]'`.

        >>> client = Client("https://board.example")
        >>> inputs = client.inputs("mirror-claims", "dev")
        >>> inputs["predicted_label"] = "SUPPORTS"
        >>> submission = client.submit(
        ...     "mirror-claims", "dev", "Always yes", inputs[["id", "predicted_label"]], wait=True
        ... )
        >>> client.scores(submission)
    """

    def __init__(self, server: str | None = None, token: str | None = None) -> None:
        """Choose the server; nothing is sent yet.

        server: its address, such as `https://board.example`; None: that of the last `holdout-eval login`. token: an API
        token; None: that of the variable HOLDOUT_TOKEN, else the one that `holdout-eval login` stored. Public data need
        no token. Raises UsageError if there is no address, or one of them is invalid.
        """
        address = find_address(server)
        token = token or find_token(address)
        self._api = Api(address, token)
        if self._api.is_open and token is not None:
            warnings.warn(OPEN_CONNECTION, stacklevel=2)

    def __repr__(self) -> str:
        return f"Client({self._api.address!r})"

    @property
    def server(self) -> str:
        """The address of the server, such as `https://board.example`."""
        return self._api.address

    def benchmarks(self, search: str = "", task: str = "") -> DataFrame:
        """Return the benchmarks: one row each, with `slug`, `title` and `task`, and further columns of the API.

        search: words that must all occur. task: only benchmarks of this task.
        """
        return frames.frame(self._api.benchmarks(search=search, task=task), ["slug", "title", "task"])

    def benchmark(self, benchmark: str) -> dict[str, Any]:
        """Return a benchmark with its `phases`, `splits` and rules, as the API represents it."""
        return self._api.benchmark(benchmark)

    def inputs(self, benchmark: str, phase: str) -> DataFrame:
        """Return the inputs of a phase: one row per line of the inputs, one column per key.

        A cell is missing if the line does not have the key.

            >>> client.inputs("mirror-claims", "dev").columns
            Index(['id', 'claim', 'evidence_text'], dtype='str')

        Raises UnavailableError also if the SHA-256 of the download is wrong.
        """
        with tempfile.TemporaryFile() as file:
            split = find_phase(self.benchmark(benchmark), phase)["split"]
            self._api.download_inputs(benchmark, split, file)
            file.seek(0)
            return frames.frame([json.loads(line) for line in file])

    def validate(self, benchmark: str, phase: str, predictions: Predictions) -> list[str]:
        """Check predictions on this machine with the server's code, and return warnings, such as of unknown keys.

        Nothing is submitted. Raises RefusedError with the code `invalid_predictions` and the `problems`:

            >>> try:
            ...     client.validate("mirror-claims", "dev", predictions)
            ... except RefusedError as error:
            ...     print(pandas.DataFrame(error.problems)[["line", "what", "found", "expected"]])
        """
        from evaluator import jobs
        from evaluator.jobs.score import ValidateRequest

        described = self.benchmark(benchmark)
        found = find_phase(described, phase)
        with _opened(predictions) as (file, name), tempfile.TemporaryFile() as inputs:
            self._api.download_inputs(benchmark, found["split"], inputs)
            inputs.seek(0)
            request = ValidateRequest(
                task=described["task"], options=found["options"], inputs_name="inputs.jsonl", predictions_name=name
            )
            report, _ = jobs.run(request, {"predictions": file, "inputs": inputs})
        if report["ok"]:
            return list(report["warnings"])
        if report["fault"] == "usage":
            raise UsageError(report["problems"][0]["text"])
        count = len(report["problems"]) + report["more"]
        message = f"The predictions have {count} problem{'s' if count > 1 else ''}, the first: "
        message += report["problems"][0]["text"]
        raise RefusedError(422, "invalid_predictions", message, report["problems"], report["more"])

    def submit(
        self,
        benchmark: str,
        phase: str,
        system: str,
        predictions: Predictions,
        *,
        team: str = "",
        track: str = "",
        note: str = "",
        facts: Mapping[str, Any] | None = None,
        wait: bool = False,
    ) -> dict[str, Any]:
        """Submit predictions, and return the submission as the API represents it: `id`, `state`, `page`, `problems`...

        system: the method's name; a new name creates a system. predictions: missing cells of a DataFrame are left out.
        team: one of your teams; empty: your first. track: one of the phase's tracks, if it has any. note: a text that
        only your list of submissions shows. facts: values that the benchmark asks about a system, such as
        `{"parameters": 7e9}`. wait: True to wait until the submission is finished. A request that the server does not
        answer is repeated for half a minute, which makes only one submission.

            >>> client.submit("mirror-claims", "dev", "Always yes", [{"id": "1", "predicted_label": "SUPPORTS"}])
        """
        metadata: dict[str, str | list[str]] = {"system": system, "team": team, "track": track, "note": note}
        metadata["fact"] = [f"{name}={value}" for name, value in (facts or {}).items()]
        with _opened(predictions) as (file, name):
            submission = self._api.submit(benchmark, phase, file, name=name, metadata=metadata)
        return self.wait(submission) if wait else submission

    def wait(self, submission: Submission) -> dict[str, Any]:
        """Wait until a submission is finished, and return it as the API represents it.

        Its `state` is `done`, `rejected`, `failed` or `cancelled`. A rejected submission has `problems`; a submission
        that is on the board has `result`, with its `rank`.
        """
        return self._api.wait(_id(submission))

    def submissions(self, benchmark: str = "", phase: str = "", system: str = "") -> DataFrame:
        """Return your teams' submissions, the latest first, such as to find the `id` of an earlier one.

        benchmark, phase, system: only submissions with this value; empty: all.
        """
        rows = self._api.submissions(benchmark=benchmark, phase=phase, system=system)
        return frames.frame(rows, ["id", "received_at", "benchmark", "phase", "system", "state", "value", "rank"])

    def take_off_board(self, submission: Submission) -> dict[str, Any]:
        """Hide a submission of one of your teams from all boards of its phase, and return it; it can be put back.

        It still counts towards the quota. Raises RefusedError if organisers do not allow it.
        """
        return self._api.set_hidden(_id(submission), hidden=True)

    def put_back(self, submission: Submission) -> dict[str, Any]:
        """Stop hiding a submission of one of your teams, and return it. Does nothing if your team does not hide it.

        Its `hidden_by` is empty, or `organisers` if they hide it too.
        """
        return self._api.set_hidden(_id(submission), hidden=False)

    def rename_system(self, system: str, name: str, *, team: str = "") -> dict[str, Any]:
        """Rename a system of one of your teams, and return it with its `former_names`, which stay public on its page.

        system: its present name, in any case. team: the name of its team, if several of your teams have such a system.
        Raises UsageError unless there is exactly one.
        """
        return self._api.rename_system(self._api.own_system(system, team), name)

    def scores(self, submission: Submission) -> DataFrame:
        """Return the revealed scores of a submission: one row per slice, the first of which is `all`.

        Each measure has the columns `accuracy` (the value), `accuracy_low` and `accuracy_high` (its interval) and
        `accuracy_n` (the number of units), with its name in place of `accuracy`; NaN: there is none. In a phase with
        the disclosure policy Ladder the value is rounded down, there is no interval, and the true score is between the
        columns that end in `at_least` and `at_most` (NaN: no such bound). Raises RefusedError with the code `not_ready`
        if no score is revealed, as in a sealed phase.
        """
        response = self._api.scores(_id(submission))
        result = frames.score_frame(response["scores"])
        result.attrs = {name: value for name, value in response.items() if name != "scores"}
        return result

    def board(
        self,
        benchmark: str,
        phase: str,
        *,
        slices: str | Iterable[str] = (),
        measures: str | Iterable[str] = (),
        sort: str = "",
        track: str = "",
        gold_version: int | None = None,
        task_version: int | None = None,
    ) -> DataFrame:
        """Return a leaderboard: one row per system and slice, in the board's order.

        Its columns are `rank` (missing: not ranked), `rank_low` and `rank_high` (missing: not computed, or not
        revealed), `system`, `team`, `kind`, `track`, `received_at`, `submission`, `slice`, then those of each measure
        as in `scores`. The board of a sealed phase has no rows. `attrs` of the DataFrame has `gold_version`,
        `task_version`, `primary`, `disclosure` and `rank_ranges`.

        slices: names of dimensions, or `all` for every dimension. Each of their slices gets a row per system, in
        addition to the row for the whole gold; empty: only that row. measures: the measures that get columns; empty:
        all. sort: the column to sort by, such as `f1`, best first. track: only systems of this track. gold_version,
        task_version: select the board of an earlier version; both are needed.

            >>> board = client.board("mirror-claims", "dev", slices="origin")
            >>> board[board["slice"] == "origin=generated"][["system", "accuracy", "accuracy_low", "accuracy_high"]]
        """
        board = self._api.board(
            benchmark,
            phase,
            slices=_joined(slices),
            measure=_joined(measures),
            sort=sort,
            track=track,
            gold_version="" if gold_version is None else str(gold_version),
            task_version="" if task_version is None else str(task_version),
        )
        return frames.board_frame(board, _joined(measures).split(",") if measures else board["measures"])

    def compare(self, benchmark: str, phase: str, a: str | None = None, b: str | None = None) -> DataFrame:
        """Return comparisons of ranked systems by the primary measure: one row per pair.

        The columns are `a`, `b` (the systems' names), `difference` (a - b), `low` and `high` (its interval), `p`
        (permutation test), `p_holm` (corrected for all compared pairs), `significant`, `n_groups`, `submission_a` and
        `submission_b`. A null of the server is NaN. There are no rows while the comparisons are computed
        (`attrs["rank_ranges"]` is not `ready`), and none in phases that do not reveal differences.

        a, b: names of systems; only pairs of these systems are returned, with `a` first; None: any system. On a board
        of more than 141 systems, only neighbours in rank and pairs with the leader are compared. Raises UsageError if
        one of them is not ranked on the board, or both are the same.

            >>> client.compare("mirror-claims", "dev", "No means no", "Always yes")
        """
        if a is not None and a == b:
            raise UsageError(f"a and b are both {shown(a)}, expected two systems")
        response = self._api.comparisons(benchmark, phase)
        pairs = [_pair(pair, is_reversed=_is_reversed(pair, a, b)) for pair in response["results"]]
        selected = [pair for pair in pairs if a in (None, pair["a"]) and b in (None, pair["b"])]
        compared = {pair[side] for pair in pairs for side in ("a", "b")}
        for argument, name in (("a", a), ("b", b)):
            if name is not None and name not in compared:
                self._check_ranked(benchmark, phase, argument, name)
        result = frames.frame(selected, _PAIR_COLUMNS)
        result.attrs = {name: response[name] for name in ("measure", "rank_ranges")}
        numbers = ("difference", "low", "high", "p", "p_holm")
        return result.astype(dict.fromkeys(numbers, "float64"))

    def _check_ranked(self, benchmark: str, phase: str, argument: str, name: str) -> None:
        """Raise UsageError, which names the argument, if the system `name` is not ranked on the board."""
        rows = self._api.board(benchmark, phase)["rows"]
        ranked = [row["system"] for row in rows if row["rank"] is not None]
        if name not in ranked:
            some = ", ".join(shown(system) for system in ranked[:_MOST_NAMED]) or "it has none"
            more = ", ..." if len(ranked) > _MOST_NAMED else ""
            raise UsageError(f"{argument} is {shown(name)}, expected a ranked system of the board: {some}{more}")

    def plot(self, benchmark: str, phase: str, name: str, **query: str) -> dict[str, Any]:
        """Return a plot of a phase's board as a Vega-Lite specification with data, which Altair shows in a notebook.

        name: the plot's name, such as `intervals`; the API's reference lists all. query: the parameters that the plot's
        page on the site has.
        """
        return self._api.plot(benchmark, phase, name, **query)


_MOST_NAMED = 20
_PAIR_COLUMNS = (
    "a",
    "b",
    "difference",
    "low",
    "high",
    "p",
    "p_holm",
    "significant",
    "n_groups",
    "submission_a",
    "submission_b",
)


def _is_reversed(pair: Mapping[str, Any], a: str | None, b: str | None) -> bool:
    """Return True if a compared pair has system `b` first and `a` second.

    An `a` or `b` that is None matches any system; if both are None, the result is False.
    """
    names = (pair["b"]["system"], pair["a"]["system"])
    return (a is not None or b is not None) and a in (None, names[0]) and b in (None, names[1])


def _pair(pair: Mapping[str, Any], *, is_reversed: bool) -> dict[str, Any]:
    first, second = (pair["b"], pair["a"]) if is_reversed else (pair["a"], pair["b"])
    difference, low, high = pair["difference"], pair["low"], pair["high"]
    if is_reversed:
        difference, low, high = (None if value is None else 0.0 - value for value in (difference, high, low))
    values = {name: pair[name] for name in ("p", "p_holm", "significant", "n_groups")}
    return {
        **{"a": first["system"], "b": second["system"], "difference": difference, "low": low, "high": high},
        **values,
        **{"submission_a": first["submission"], "submission_b": second["submission"]},
    }


@contextmanager
def _opened(predictions: Predictions) -> Iterator[tuple[BinaryIO, str]]:
    """Yield (an open file with the predictions as JSON Lines, the name of this file)."""
    if isinstance(predictions, str | os.PathLike):
        path = Path(predictions)
        try:
            file = path.open("rb")
        except OSError as error:
            raise UsageError(f"cannot read {shown(str(path))}: {error.strerror}") from None
        except ValueError:
            raise UsageError(f"{shown(str(path))} is no name of a file: it has a NUL or a lone surrogate") from None
        with file:
            yield file, path.name
        return
    with tempfile.TemporaryFile() as written:
        written.write(frames.json_lines(predictions))
        written.seek(0)
        yield written, "predictions.jsonl"


def _joined(names: str | Iterable[str]) -> str:
    return names if isinstance(names, str) else ",".join(names)


def _id(submission: Submission) -> str:
    return submission if isinstance(submission, str) else str(submission["id"])
