"""Translation of msgspec's decoding errors into what a line's author needs: what is wrong, what was found, what was
expected.

Types are given in JSON's terms (an object, a list, a string). The line's values are not quoted.
"""

import re

from evaluator.jsonl.strict_json import LineError

_TYPE = re.compile(r"Expected `(?P<expected>[^`]+)`(?:, got `(?P<found>[^`]+)`)?(?: - at `(?P<path>[^`]+)`)?")
_LENGTH = re.compile(r"Expected `array` of length (?P<expected>\d+)(?: - at `(?P<path>[^`]+)`)?")
_MISSING = re.compile(r"Object missing required field `(?P<name>[^`]+)`(?: - at `(?P<path>[^`]+)`)?")
_AT = re.compile(r"^(?P<what>.*?) - at `(?P<path>[^`]+)`$")
_WORDS = {
    "int": "an integer",
    "float": "a number",
    "str": "a string",
    "bool": "true or false",
    "null": "null",
    "object": "an object",
    "array": "a list",
}


def describe(error: Exception | None) -> LineError:
    """Return a description of what is wrong with a line, from the error that msgspec raised for it."""
    text = str(error)
    if match := _MISSING.search(text):
        inside = _name(match["path"])
        where = f" in {inside}" if inside else ""
        return LineError(f"{match['name']} is missing{where}", "no such key", match["name"])
    if match := _LENGTH.search(text):
        name = _name(match["path"]) or "the line"
        return LineError(
            f"{name} has the wrong length", "a list of another length", f"a list of length {match['expected']}"
        )
    if match := _TYPE.search(text):
        name = _name(match["path"]) or "the line"
        return LineError(f"{name} has the wrong type", _words(match["found"]), _words(match["expected"]))
    if match := _AT.search(text):
        return LineError(f"{_name(match['path']) or 'the line'} is not valid", match["what"], "a valid value")
    return LineError("not valid JSON", text, "one JSON object")


def _name(path: str | None) -> str:
    return (path or "").removeprefix("$").removeprefix(".").replace("[...]", "[]")


def _words(types: str | None) -> str:
    return " or ".join(_WORDS.get(kind, kind) for kind in (types or "").split(" | "))
