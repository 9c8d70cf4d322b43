"""The tiny world with tracks in its phase, for tests."""

from __future__ import annotations

from typing import Any

from leaderboard.boards.actions import tracks
from tests.support.rows.tiny_world import World, build

TRACKS = [
    {"name": "simple", "title": "SIMPLE", "description": "without the triples that are asked for"},
    {"name": "thorough", "title": "THOROUGH", "description": "without whatever says one in other words"},
]


def build_with_tracks(**quotas: Any) -> World:
    """Build a world with the tracks `simple` and `thorough`, added before any submission."""
    world = build(**quotas)
    tracks.change(phase=world.phase, new_tracks=TRACKS, by=world.curator)
    return world
