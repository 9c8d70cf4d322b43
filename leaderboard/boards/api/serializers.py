"""Serializers of results copied from papers."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from leaderboard.boards.queries.reported_results import Reported


class ReportedValueSerializer(serializers.Serializer[Any]):
    measure = serializers.CharField()
    slice = serializers.DictField(child=serializers.CharField())
    value = serializers.FloatField(allow_null=True)
    shown = serializers.CharField(help_text="the value as printed in the paper")


class ReportedSerializer(serializers.Serializer[Any]):
    """Result copied from a paper; it is not ranked."""

    system = serializers.CharField()
    paper = serializers.CharField()
    table = serializers.CharField()
    split = serializers.CharField(help_text="the split that the paper measured it on")
    same_split = serializers.BooleanField(help_text="whether that is the split of this board")
    track = serializers.CharField(help_text="the track that it belongs to; empty: none")
    note = serializers.CharField()
    values = ReportedValueSerializer(many=True)


def reported(rows: Reported) -> list[dict[str, Any]]:
    """Convert reported rows to dicts with the fields of ReportedSerializer."""
    names = ("system", "paper", "table", "split", "same_split", "track", "note")
    return [
        {
            **{name: getattr(row, name) for name in names},
            "values": [
                {"measure": measure, "slice": dict(slice_), "value": value, "shown": shown}
                for (measure, slice_), (value, shown) in row.values.items()
            ],
        }
        for row in rows.rows
    ]
