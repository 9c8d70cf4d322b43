"""Headers of public responses, which do not depend on the session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from csp.decorators import csp_replace

SECONDS = 300
"""Maximum age of such a response in shared caches."""
View = TypeVar("View", bound=Callable[..., Any])


def policy(**directives: Sequence[str]) -> Callable[[View], View]:
    """Replace directives of the site's content security policy for a view; underscores stand for hyphens."""
    replaced = csp_replace({name.replace("_", "-"): list(sources) for name, sources in directives.items()})
    return cast(Callable[[View], View], replaced)
