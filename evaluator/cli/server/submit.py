"""`holdout-eval submit`: submit predictions, an image archive or a registry reference to a server."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from evaluator.cli.output import Progress, print_problems, say
from evaluator.cli.server import upload as uploading
from evaluator.cli.server.errors import FILE_ERROR_CODES, refused
from evaluator.cli.server.tokens import connect
from evaluator.cli.tables import score_table
from evaluator.client.api import Api
from evaluator.client.http import RefusedError, UnavailableError
from evaluator.errors import UsageError, printable, shown
from evaluator.exit_codes import BAD_GOLD, BAD_PREDICTIONS, DONE, INTERNAL_ERROR


def submit(args: argparse.Namespace) -> int:
    """Run the command `submit` and return its exit status.

    Raises UsageError for invalid arguments, and SandboxError if the server or the Docker engine does not respond.
    """
    n_given = sum(source is not None for source in (args.predictions, args.image, args.reference))
    if n_given != 1:
        raise UsageError(
            f"{n_given} submissions are given, expected exactly one: a predictions file, --image or --reference"
        )
    if args.resume and args.image is None:
        raise UsageError("--resume is given without --image, expected --image with the image of the interrupted upload")
    server = connect(args.server, args.token_file)
    try:
        submission = _sent(args, server)
        say(f"submitted: {submission['page']}")
        return print_outcome(server, submission, wait=args.wait, as_json=args.json)
    except RefusedError as error:
        return refused(error, as_json=args.json)


def _sent(args: argparse.Namespace, server: Api) -> dict[str, Any]:
    """Send the submission that the arguments describe, and return it as the API represents it."""
    metadata = {name: getattr(args, name) for name in ("system", "team", "track", "note", "fact")}
    if args.reference is not None:
        return server.submit_reference(args.benchmark, args.phase, args.reference, metadata, _say_retry)
    if args.image is not None:
        with _archive(args.image) as archive:
            upload = _upload(args, server, archive)
        try:
            return server.submit_upload(upload, metadata, _say_retry)
        except RefusedError as error:
            if error.code not in FILE_ERROR_CODES:
                say(f"the server stores the archive for some days; to submit it later, add --resume {upload}")
            raise
    with _opened(args.predictions) as file:
        name = Path(args.predictions).name
        return server.submit(args.benchmark, args.phase, file, name=name, metadata=metadata, on_retry=_say_retry)


def _upload(args: argparse.Namespace, server: Api, archive: IO[bytes]) -> str:
    """Upload all of an image's archive, and return the id of the upload. `--resume` continues an earlier upload."""
    if args.resume:
        upload = uploading.resumed(server, archive, args.resume)
    else:
        name = Path(args.image).name
        where = {"benchmark": args.benchmark, "phase": args.phase, "track": args.track, "team": args.team}
        upload = uploading.begin(server, archive, name=name, **where)
    try:
        uploading.send(server, archive, upload)
    except (UnavailableError, KeyboardInterrupt):
        say(f"the upload was interrupted; to continue it, repeat the command with --resume {upload}")
        raise
    return upload


def _say_retry(seconds: float, error: UnavailableError) -> None:
    say(f"{error}; sending again in {seconds:.0f} s, which makes one submission")


def print_outcome(server: Api, submission: dict[str, Any], *, wait: bool, as_json: bool) -> int:
    """Print a submission and return the exit status.

    wait: True to wait until the submission is finished, and print its outcome and scores. False to return at once: then
    the unfinished submission is printed if `as_json` is True, and nothing otherwise.
    """
    if not wait:
        if as_json:
            print(json.dumps(submission))
        return DONE
    progress = Progress()
    try:
        submission = server.wait(submission["id"], on_status=progress.show)
    finally:
        progress.end()
    scores = _scores_of(server, submission["id"]) if submission["state"] == "done" else None
    if as_json:
        print(json.dumps({**submission, "scores": scores and scores["scores"]}))
    for warning in submission["warnings"]:
        say(f"warning: {warning}")
    if submission["log"]:
        say(f"--- output of the container\n{submission['log'].rstrip()}\n---")
    print_problems(submission["problems"])
    if submission["state"] == "done":
        if scores and not as_json:
            print("\n".join([*_result_lines(submission, scores), score_table(scores["scores"])]))
        return DONE
    say(
        f"{submission['state']}: {submission['reason_text']}"
        + ("; the quota is refunded" if submission["refunded"] else "")
    )
    if submission["state"] == "rejected":
        return BAD_PREDICTIONS
    return BAD_GOLD if submission["reason"] == "bad_gold" else INTERNAL_ERROR


def _scores_of(server: Api, submission: str) -> dict[str, Any] | None:
    """Return the revealed scores of a submission, in the form of the API.

    None if the phase has revealed none yet; the server's explanation is then printed. Raises RefusedError if the server
    refuses the request for another reason.
    """
    try:
        return server.scores(submission)
    except RefusedError as error:
        if error.code != "not_ready":
            raise
        say(f"{error}")
        return None


def _result_lines(submission: dict[str, Any], scores: dict[str, Any]) -> list[str]:
    """Return one line with the primary score and the rank; no line if the submission is not on the board.

    In a phase with the disclosure policy Ladder the line has the rank only: scores are rounded, and `score_table` shows
    them with their bounds.
    """
    result = submission["result"]
    if not result:
        return []
    whole = [row for row in scores["scores"] if row["measure"] == result["primary"] and not row["slice"]]
    is_exact = whole and whole[0]["value"] is not None and scores["policy"] != "ladder"
    value = f"{result['primary']} {whole[0]['value']:.4f}, " if is_exact else ""
    if result["rank"] is None:
        return [f"{value}not ranked"]
    low, high = result["rank_low"], result["rank_high"]
    possible = f" (could be {low} to {high})" if low is not None and low != high else ""
    rank = f"rank {result['rank']}{'=' if result['is_tied'] else ''} of {result['n_ranked']}{possible}"
    return [f"{value}{rank}" if result["is_shown"] else f"{value}the board shows a better submission, at {rank}"]


@contextmanager
def _archive(image: str) -> Iterator[IO[bytes]]:
    """Yield the open archive of an image.

    image: the path of an archive file; if there is no such file, the tag or id of an image of the local Docker engine,
    which is saved to a temporary file.
    """
    if Path(image).is_file():
        with _opened(image) as file:
            yield file
        return
    from evaluator.cli.local import engine as local

    engine = local.connect_engine()
    with local.save_image(engine, local.id_of(engine, image)) as file:
        yield file


@contextmanager
def _opened(path: str) -> Iterator[IO[bytes]]:
    try:
        file = Path(path).open("rb")  # noqa: SIM115 - closed below; errors raised while reading must not be caught here
    except OSError as error:
        raise UsageError(f"cannot read {shown(path)}: {printable(error.strerror or str(error))}") from None
    with file:
        yield file
