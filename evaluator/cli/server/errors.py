"""Messages and exit status for a request that the server refused."""

from __future__ import annotations

import json

from evaluator.cli.output import print_problems, say
from evaluator.client.http import RefusedError
from evaluator.exit_codes import BAD_PREDICTIONS, WRONG_USAGE

FILE_ERROR_CODES = ("invalid_predictions", "invalid_reference", "digest_mismatch", "empty_file", "too_large")
"""Error codes of the server for a problem with the submitted file itself."""


def refused(error: RefusedError, *, as_json: bool) -> int:
    print_problems(error.problems, error.more)
    say(f"refused ({error.code}): {error.message}")
    if as_json:
        refusal = {"code": error.code, "message": error.message, "problems": error.problems, "more": error.more}
        print(json.dumps({"ok": False, **refusal}))
    return BAD_PREDICTIONS if error.code in FILE_ERROR_CODES else WRONG_USAGE
