"""Headers of public responses, which do not depend on the session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from csp.decorators import csp_replace

SECONDS = 300
"""Maximum age of a public response in shared caches, in seconds."""
View = TypeVar("View", bound=Callable[..., Any])


def replace_csp(**directives: Sequence[str]) -> Callable[[View], View]:
    """Return a view decorator that replaces directives of the site's Content-Security-Policy.

    directives: name of a directive, with underscores for hyphens -> its sources.
    """
    replaced = csp_replace({name.replace("_", "-"): list(sources) for name, sources in directives.items()})
    return cast(Callable[[View], View], replaced)
