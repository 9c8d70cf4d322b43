"""BUCKLE's scenario files (Huynh & Papotti 2019): TSV files whose names describe how the claims were sampled."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from leaderboard.hosting.importers.published import PublishedFileError, rows

NAME = re.compile(
    r"(?P<kind>test|train)_c(?P<transparency>[0-9.]+)_h(?P<homogeneity>[0-9.]+)_s(?P<size>[0-9]+)"
    r"_r(?P<ratio>[0-9.]+)(?:_(?P<popularity>random|popular|nopopular))?_scenario\.tsv"
)
WRITTEN = "{test|train}_c{transparency}_h{homogeneity}_s{size}_r{pos/neg}_{random|popular|nopopular}_scenario.tsv"
COLUMNS = ("Subject", "Object", "Relation", "Label", "Origin_Relation", "Cluster")
LABELS = {"1": True, "-1": False}
POPULARITY = {"random": "random", "popular": "popular", "nopopular": "non-popular", None: ""}
DEPTH = 3

Pair = tuple[str, str]
"""(subject, object)."""


@dataclass(frozen=True)
class Claim:
    """A line of a scenario file.

    pair: subject and object. holds: True if the file's relation holds between them. line: line number, from 1.
    """

    pair: Pair
    holds: bool
    line: int


@dataclass(frozen=True)
class Scenario:
    """A scenario file: claims on one relation, and the sampling parameters in the file's name.

    train: True for a training file, False for a test file. transparency, homogeneity: fractions from 0 to 1. ratio:
    number of true claims divided by number of false claims, as written in the name. popularity: how the entities were
    chosen, one of POPULARITY's values; empty if the name does not say.
    """

    path: Path
    relation: str
    train: bool
    transparency: float
    homogeneity: float
    ratio: str
    popularity: str
    claims: tuple[Claim, ...]

    @property
    def label(self) -> str:
        """The variable parts of the file's name, such as `c0.5 h1.0 s300 r1.0 random`."""
        return self.path.name.removesuffix("_scenario.tsv").split("_", 1)[1].replace("_", " ")

    @property
    def setting(self) -> tuple[float, float]:
        return self.transparency, self.homogeneity


def scenarios(folder: Path) -> list[Scenario]:
    """Read every scenario file in the folder and its subfolders, up to two levels down.

    Returns them sorted by relation and file name. Raises PublishedFileError for invalid or repeated files, if there is
    no test file, and if a pair of entities has different labels in two files of a relation.
    """
    if not folder.is_dir():
        raise PublishedFileError(f"{folder}: no such folder; expected the one with the published scenario files")
    loaded = [_read(path) for path in sorted(_paths(folder))]
    if not any(not scenario.train for scenario in loaded):
        raise PublishedFileError(f"{folder}: found no test scenarios; expected files named {WRITTEN}")
    paths: dict[tuple[str, str], Path] = {}
    for scenario in loaded:
        other = paths.setdefault((scenario.relation, scenario.path.name), scenario.path)
        if other != scenario.path:
            raise PublishedFileError(
                f"{scenario.path}: the same scenario of {scenario.relation} is also in {other}; expected it once"
            )
    _check_labels(loaded)
    return sorted(loaded, key=lambda scenario: (scenario.relation, scenario.path.name))


def _paths(folder: Path) -> Iterator[Path]:
    for depth in range(DEPTH):
        yield from (path for path in folder.glob("*/" * depth + "*scenario.tsv") if path.is_file())


def _read(path: Path) -> Scenario:
    name = NAME.fullmatch(path.name)
    if name is None:
        raise PublishedFileError(f"{path.name}: unknown form of the file's name, expected {WRITTEN}")
    relation, claims = _claims(path)
    if len(claims) != int(name["size"]):
        raise PublishedFileError(
            f"{path.name}: found {len(claims)} claims, expected {name['size']} as the file's name says"
        )
    return Scenario(
        path=path,
        relation=relation,
        train=name["kind"] == "train",
        transparency=_share(path, name["transparency"], "transparency"),
        homogeneity=_share(path, name["homogeneity"], "homogeneity"),
        ratio=name["ratio"],
        popularity=POPULARITY[name["popularity"]],
        claims=tuple(claims),
    )


def _share(path: Path, text: str, field: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise PublishedFileError(f"{path.name}: {field} in the file's name, found {text}, expected 0 to 1")
    return share


def _claims(path: Path) -> tuple[str, list[Claim]]:
    relation, claims = "", []
    first: dict[Pair, Claim] = {}
    for number, fields in rows(path, COLUMNS):
        subject, object_, own, label = fields[:4]
        location = f"{path.name}:{number}"
        for column, field in zip(COLUMNS, (subject, object_, own), strict=False):
            if not field:
                raise PublishedFileError(f"{location}: {column} is empty, expected a name")
        relation = relation or own
        if own != relation:
            raise PublishedFileError(f"{location}: Relation, found {own}, expected {relation} as on the lines before")
        if label not in LABELS:
            raise PublishedFileError(f"{location}: Label, found {label!r}, expected 1 or -1")
        claim = Claim((subject, object_), LABELS[label], number)
        other = first.setdefault(claim.pair, claim)
        if other is not claim:
            how = "with another label" if other.holds != claim.holds else "already"
            raise PublishedFileError(
                f"{location}: {subject} and {object_} are on line {other.line} {how}, expected each pair once"
            )
        claims.append(claim)
    if not claims:
        raise PublishedFileError(f"{path.name}: found no claims, expected one per line")
    return relation, claims


def _check_labels(loaded: list[Scenario]) -> None:
    """Raise PublishedFileError if a pair of entities has different labels in two scenarios of one relation."""
    first: dict[tuple[str, Pair], tuple[Scenario, Claim]] = {}
    for scenario in loaded:
        for claim in scenario.claims:
            other, seen = first.setdefault((scenario.relation, claim.pair), (scenario, claim))
            if seen.holds != claim.holds:
                raise PublishedFileError(
                    f"{scenario.path.name}:{claim.line}: {' and '.join(claim.pair)} have another label in "
                    f"{other.path.name}:{seen.line}, expected the same in every scenario of {scenario.relation}"
                )
