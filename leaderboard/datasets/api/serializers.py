"""API serializers of errata, the public notices of corrections of gold."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from leaderboard.datasets.queries.errata import IN_FORCE, SCORED_AGAIN, SET_ASIDE


class ReplacedSerializer(serializers.Serializer[Any]):
    """Serializer of a board that was replaced after a correction of gold; the frozen board stays available."""

    phase = serializers.CharField(source="phase.slug")
    gold_version = serializers.IntegerField(source="gold_version.number")
    task_version = serializers.IntegerField()


class ErratumSerializer(serializers.Serializer[Any]):
    """Serializer of an erratum: the public notice of a correction of published gold."""

    split = serializers.CharField(source="gold.split.name")
    gold_version = serializers.IntegerField(source="gold.number")
    corrected_at = serializers.DateTimeField(source="gold.created_at")
    reason = serializers.CharField(source="gold.reason")
    n_changed = serializers.IntegerField(
        allow_null=True, help_text="number of items that the correction changed; null: not counted or not published"
    )
    state = serializers.ChoiceField(
        [IN_FORCE, SCORED_AGAIN, SET_ASIDE], help_text="set aside: the rescoring on the corrected gold was cancelled"
    )
    replaced = ReplacedSerializer(many=True, help_text="former boards, available by `gold_version` and `task_version`")
