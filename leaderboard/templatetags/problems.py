"""Template filter that groups the problems of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import template

from evaluator.errors import ProblemGroup, group_problems

register = template.Library()


@register.filter
def grouped(problems: Sequence[Mapping[str, Any]]) -> list[ProblemGroup]:
    return group_problems(problems)


@register.filter
def unlisted(problems: Sequence[Mapping[str, Any]], more: int) -> int:
    """Return how many problems of a file belong to none of the groups into which `group_problems` puts `problems`.

    more: number of the file's problems that are not in `problems`; the groups count some of these without listing them.
    """
    return more - sum(group.count - len(group.rows) for group in group_problems(problems))
