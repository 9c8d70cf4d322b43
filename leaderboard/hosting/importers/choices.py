"""Input and output of every importer: a curator's choices for the import, and the imported manifest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from leaderboard.benchmarks.manifest import Manifest, PhasePart, ReportedPart, SplitKind, SplitPart, TrackPart
from leaderboard.hosting.importers.published import Origins

_REPORTED = Path(__file__).parent / "reported"


@dataclass(frozen=True, kw_only=True)
class Choices:
    """A curator's choices for an import.

    slug, title: empty for the importer's default. public: publish the benchmark. public_gold: names of splits whose
    gold becomes public although the importer would hide it. hidden_fold: the fold of KnowledgeNet that becomes the
    hidden test split. salt: secret from which ids are computed; empty for a random one. salt_ids: replace ids by salted
    ones also where the importer would keep the published ids. quota_per_day, quota_total: numbers of submissions that a
    team may make to each phase. reported: include results from papers. say: called with each line of progress.
    """

    slug: str = ""
    title: str = ""
    public: bool = True
    public_gold: frozenset[str] = frozenset()
    hidden_fold: int = 4
    salt: str = ""
    salt_ids: bool = False
    quota_per_day: int = 50
    quota_total: int = 1000
    options: dict[str, str] = field(default_factory=dict)
    """Task options for each phase; they override the importer's own options."""
    reported: bool = True
    predictions: Path | None = None
    """Folder to which published outputs are written as prediction files; only FRANK's metrics have any."""
    say: Callable[[str], None] = lambda line: None

    def split(self, name: str, kind: SplitKind, *, gold_public: bool = False) -> SplitPart:
        """Return a manifest's split with the gold file NAME.jsonl.

        The gold is public if `gold_public`, or if `public_gold` has the split's name.
        """
        gold_public = gold_public or name in self.public_gold
        return SplitPart(name=name, kind=kind, gold=f"{name}.jsonl", gold_public=gold_public)

    def phase(
        self,
        *,
        slug: str,
        title: str,
        split: str,
        options: dict[str, str] | None = None,
        tracks: Sequence[TrackPart] = (),
    ) -> PhasePart:
        return PhasePart(
            slug=slug,
            title=title,
            split=split,
            options={**(options or {}), **self.options},
            quota_per_day=self.quota_per_day,
            quota_total=self.quota_total,
            tracks=list(tracks),
        )


@dataclass(frozen=True)
class PublishedPart:
    """A published file and the split imported from it.

    split: the split's name. title: of the phase on the split. names: possible names of the published file. gold_public:
    True for a split with public gold for training, which has no phase.
    """

    split: str
    title: str
    kind: SplitKind
    names: tuple[str, ...]
    gold_public: bool = False


@dataclass(frozen=True, kw_only=True)
class Imported:
    """A manifest that can be hosted, with its files.

    origins: the published line from which each written line was made. folder: where the manifest's files are; None: in
    the importer's output folder. id_map: published id -> salted id; empty if the published ids are kept.
    """

    manifest: Manifest
    origins: Origins
    folder: Path | None = None
    id_map: dict[str, str] = field(default_factory=dict)


def reported(name: str, *, hosted: bool = True) -> list[ReportedPart]:
    """Return the results that papers report, from the file `reported/NAME.json` beside this module.

    hosted: False if the published split that they were measured on is not hosted; no row is then marked as comparable.
    """
    rows = msgspec.json.decode((_REPORTED / f"{name}.json").read_bytes(), type=list[ReportedPart])
    return rows if hosted else [msgspec.structs.replace(row, same_split=False) for row in rows]


Importer = Callable[[Path, Path, Choices], Imported]
"""Function of (folder of published files, empty output folder, choices). Raises PublishedFileError."""
