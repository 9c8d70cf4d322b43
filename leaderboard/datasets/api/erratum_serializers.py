"""Serializers of errata: corrections of published gold."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from leaderboard.datasets.queries.errata import IN_FORCE, SCORED_AGAIN, SET_ASIDE


class ReplacedSerializer(serializers.Serializer[Any]):
    """A board that was replaced after a correction of gold; it stays available."""

    phase = serializers.CharField(source="phase.slug")
    gold_version = serializers.IntegerField(source="gold_version.number")
    task_version = serializers.IntegerField()


class ErratumSerializer(serializers.Serializer[Any]):
    """A correction of published gold."""

    split = serializers.CharField(source="gold.split.name")
    gold_version = serializers.IntegerField(source="gold.number")
    corrected_at = serializers.DateTimeField(source="gold.created_at")
    reason = serializers.CharField(source="gold.reason")
    n_changed = serializers.IntegerField(allow_null=True, help_text="number of items that it changed; null: not shown")
    state = serializers.ChoiceField(
        [IN_FORCE, SCORED_AGAIN, SET_ASIDE], help_text="set aside: its scoring was cancelled"
    )
    replaced = ReplacedSerializer(many=True, help_text="earlier boards, available by `gold_version` and `task_version`")
