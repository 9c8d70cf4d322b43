"""Template filters that group the problems of a file, and count problems outside the groups."""

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
    """Return the number of problems of a file that belong to none of the groups made from `problems`.

    more: number of the file's problems that are not in `problems`. Some of these belong to a group, whose `count`
    includes them although `group_problems` does not list them.
    """
    return more - sum(group.count - len(group.rows) for group in group_problems(problems))
