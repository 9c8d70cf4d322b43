"""What is said where a server refuses, and the exit status that it comes to."""

from __future__ import annotations

import json

from evaluator.client.http import RefusedError
from evaluator.client.status import BAD_PREDICTIONS, WRONG_USAGE
from evaluator.client.telling import print_problems, say

THEIRS = ("invalid_predictions", "invalid_image", "too_large")
"""Codes of what is wrong with the file itself."""


def refused(error: RefusedError, *, as_json: bool) -> int:
    print_problems(error.problems, error.more)
    say(f"refused ({error.code}): {error.message}")
    if as_json:
        refusal = {"code": error.code, "message": error.message, "problems": error.problems, "more": error.more}
        print(json.dumps({"ok": False, **refusal}))
    return BAD_PREDICTIONS if error.code in THEIRS else WRONG_USAGE
