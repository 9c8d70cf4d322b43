"""What a curator chooses when a published benchmark is imported, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from leaderboard.benchmarks.manifest import Manifest, PhasePart, TrackPart
from leaderboard.hosting.importers.published import Origins


@dataclass(frozen=True, kw_only=True)
class Choices:
    """Empty strings leave the importer's own words and a salt made at random."""

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
    """The task's options, over those that the importer chose, in each phase."""
    reported: bool = True
    predictions: Path | None = None
    """Where published outputs go as prediction files; FRANK's metrics have some."""
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
    """A manifest with its files: in `folder`, or else where the importer wrote them.

    `id_map` is published id -> public id, where ids are salted.
    """

    manifest: Manifest
    origins: Origins
    folder: Path | None = None
    id_map: dict[str, str] = field(default_factory=dict)


Importer = Callable[[Path, Path, Choices], Imported]
"""(folder of published files, empty folder to write to, choices) -> what can be hosted. Raises ImportFault."""
