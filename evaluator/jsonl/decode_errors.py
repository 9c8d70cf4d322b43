"""Translation of msgspec's decoding errors into problems for a line's author: what is wrong, found and expected.

Types are given in JSON's terms (an object, a list, a string). The line's values are not quoted.
"""

import difflib
import json
import re
from collections.abc import Collection

from evaluator.errors import shown
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


_MAX_KEYS = 6
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


def describe(error: Exception | None, line: bytes = b"", unknown: Collection[str] = ()) -> LineError:
    """Return a description of what is wrong with a line, from the error that msgspec raised for it.

    line: needed only with `unknown`, the line's keys that the format does not name. If a required key is missing, the
    description suggests an unknown key that may be a misspelling of it.
    """
    text = str(error)
    if match := _MISSING.search(text):
        inside = _name(match["path"])
        if unknown and not inside:
            return _missing_key(match["name"], list(json.loads(line)), unknown)
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


def _missing_key(name: str, keys: list[str], unknown: Collection[str]) -> LineError:
    """Return the description of a line without the required key `name`, with a suggestion if an unknown key is similar.

    keys: all keys of the line; unknown: those that the format does not name.
    """
    named = ", ".join(map(shown, keys[:_MAX_KEYS])) + (", ..." if len(keys) > _MAX_KEYS else "")
    candidates = [key for key in keys if key in unknown][:_MAX_KEYS]
    alike = [key for key in candidates if _words_of(key) & _words_of(name)]
    alike = alike or difflib.get_close_matches(name, candidates, n=1, cutoff=0.5)
    hint = f" (rename {shown(alike[0])}?)" if alike else ""
    return LineError(f"{name} is missing", f"the keys {named}", f"{name}{hint}")


def _words_of(key: str) -> set[str]:
    """Return the lower-case words of a key: `document` and `id` of documentId, `gold` and `label` of gold_label."""
    return {word.lower() for word in _WORD.findall(key)}


def _name(path: str | None) -> str:
    return (path or "").removeprefix("$").removeprefix(".").replace("[...]", "[]")


def _words(types: str | None) -> str:
    return " or ".join(_WORDS.get(kind, kind) for kind in (types or "").split(" | "))
