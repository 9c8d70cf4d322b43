"""Ids of gold units (strings or integers, one type per split), and the groups and slices that a gold line may have."""

import hashlib
from array import array
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from evaluator.errors import ProblemList, shown
from evaluator.outcomes.table import SliceValue

Id = str | int
MAX_LISTED = 10


class GoldLine(msgspec.Struct, gc=False, kw_only=True):
    """The optional fields of a gold line in every task: its group (the resampling unit) and its slices by dimension."""

    group: str | int | msgspec.UnsetType = msgspec.UNSET
    slices: dict[str, str | int | float | bool] | msgspec.UnsetType = msgspec.UNSET


def count_gold_keys(line: GoldLine) -> int:
    """Return how many of a line's JSON keys are `group`, `slices` or keys inside `slices`."""
    n = 0 if line.group is msgspec.UNSET else 1
    return n if line.slices is msgspec.UNSET else n + 1 + len(line.slices)


def type_name(value: object) -> str:
    return "a string" if isinstance(value, str) else "an integer"


class IdRegister:
    """The distinct ids of a file, each with its index in the order of the file.

    Duplicates, and ids of another type than the first, are reported in `problems`. name: the JSON key of the id.
    """

    def __init__(self, problems: ProblemList, name: str = "id") -> None:
        self.indices: dict[Id, int] = {}
        self._problems = problems
        self._name = name
        self._type: type | None = None

    def add(self, value: Id, line: int) -> bool:
        """Register a line's id. Return False, after reporting a problem, if it is a duplicate or of the wrong type."""
        if self._type is None:
            self._type = type(value)
        if type(value) is not self._type:
            expected = "a string" if self._type is str else "an integer"
            self._problems.add(
                line,
                f"{self._name} has another type than on earlier lines",
                type_name(value),
                f"{expected}, as on earlier lines",
            )
            return False
        if value in self.indices:
            self._problems.add(line, f"duplicate {self._name}", shown(value), f"each {self._name} once")
            return False
        self.indices[value] = len(self.indices)
        return True


class AnswerRegister:
    """The ids that predictions have to answer, each with its index, and the ids that are already answered.

    Ids that are answered twice, or are not in the inputs, are reported in `problems`.
    """

    def __init__(self, index_of: Mapping[Id, int], problems: ProblemList) -> None:
        self._indices = index_of
        self._problems = problems
        # The line of each index's answer, 0 without one. An array, since a list would hold one object per line.
        self._first_line = array("Q", bytes(8 * len(index_of)))

    def index_of(self, value: Id, line: int) -> int | None:
        """Return the index of the id that a line answers, or None after reporting a problem."""
        index = self._indices.get(value)
        if index is None:
            self._problems.add(line, *unknown_id("id", value, self._indices))
            return None
        first = self._first_line[index]
        if first:
            self._problems.add(line, "duplicate id", f"{shown(value)} (first on line {first})", "each id once")
            return None
        self._first_line[index] = line
        return index

    @property
    def silent(self) -> list[Id]:
        """The ids that no line has answered."""
        return [value for value, index in self._indices.items() if not self._first_line[index]]

    @property
    def warnings(self) -> list[str]:
        """A list with one warning that names the ids without an answer; empty if there are none.

        It is for tasks in which answers may be missing. The ids are sorted, so that their order does not reveal the
        order of the gold.
        """
        silent = sorted(self.silent)
        if not silent:
            return []
        verb = "id is" if len(silent) == 1 else "ids are"
        return [
            f"{self._problems.file}: {len(silent)} {verb} missing and scored like an empty answer: {format_ids(silent)}"
        ]


def order_key(value: Id) -> bytes:
    """Return a digest of the id, by which public inputs are sorted so that their order does not reveal gold."""
    return hashlib.sha256(repr(value).encode()).digest()


def unknown_id(name: str, value: Id, known: Iterable[Id]) -> tuple[str, str, str]:
    """Return the texts of a problem (what is wrong, found, expected) for an id that is not among the known ids.

    name: the JSON key of the id.
    """
    first = next(iter(known), None)
    if first is not None and type(first) is not type(value):
        return f"unknown {name}", f"{shown(value)} ({type_name(value)})", f"{type_name(first)}, as in the inputs"
    return f"unknown {name}", shown(value), "an id of the inputs"


def format_ids(ids: Sequence[Id]) -> str:
    """Return the first MAX_LISTED ids as text, with an ellipsis if there are more."""
    text = ", ".join(shown(value) for value in ids[:MAX_LISTED])
    return f"{text}, ..." if len(ids) > MAX_LISTED else text


def report_missing(problems: ProblemList, ids: Sequence[Id], n_unread: int) -> None:
    """Report ids without an answer, as `3 ids are missing: "a", "b", "c"`.

    n_unread: the number of lines that could not be read; nothing is reported if all missing ids may be on them.
    """
    if len(ids) <= n_unread:
        return
    verb = "id is" if len(ids) == 1 else "ids are"
    unread = f" (some may be on the {n_unread} lines that could not be read)" if n_unread else ""
    problems.add(None, f"{len(ids)} {verb} missing: {format_ids(ids)}{unread}")


def slice_columns(
    lines: Sequence[dict[str, SliceValue] | None],
) -> dict[str, list[SliceValue | None]]:
    """Return a column of slice values for each dimension that any line declares, in order of first appearance.

    lines: the `slices` of every gold line, None where it has none. Each column has one entry per line, None
    without a value.
    """
    names = dict.fromkeys(name for slices in lines if slices for name in slices)
    return {name: [slices.get(name) if slices else None for slices in lines] for name in names}
