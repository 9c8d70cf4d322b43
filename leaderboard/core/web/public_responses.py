"""Headers of responses that depend on nobody's session and are the same for every reader."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from csp.decorators import csp_replace

SECONDS = 300
"""How long shared caches may keep such a response."""
View = TypeVar("View", bound=Callable[..., Any])


def policy(**directives: Sequence[str]) -> Callable[[View], View]:
    """Replaces these directives of the site's content security policy; underscores stand for hyphens."""
    replaced = csp_replace({name.replace("_", "-"): list(sources) for name, sources in directives.items()})
    return cast(Callable[[View], View], replaced)
