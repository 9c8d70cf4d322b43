"""A curator's choices when importing a published benchmark, and the result of the import."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from leaderboard.benchmarks.manifest import Manifest, PhasePart, TrackPart
from leaderboard.hosting.importers.published import Origins


@dataclass(frozen=True, kw_only=True)
class Choices:
    """Options of an import. Empty strings select the importer's own texts and a random salt."""

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
    """Task options for each phase; they override the importer's."""
    reported: bool = True
    predictions: Path | None = None
    """Folder to which published outputs are written as prediction files; only FRANK's metrics have any."""
    say: Callable[[str], None] = lambda line: None

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


@dataclass(frozen=True, kw_only=True)
class Imported:
    """A manifest with its files, which are in `folder`, or if that is None in the folder the importer wrote to.

    `id_map` maps published ids to public ids where ids are salted.
    """

    manifest: Manifest
    origins: Origins
    folder: Path | None = None
    id_map: dict[str, str] = field(default_factory=dict)


Importer = Callable[[Path, Path, Choices], Imported]
"""(folder of published files, empty output folder, choices) -> importable benchmark. Raises ImportFault."""
