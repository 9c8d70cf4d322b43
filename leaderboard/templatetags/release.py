"""Template tag `{% version %}`: the release of Holdout that this site runs."""

from django import template

from evaluator import __version__

register = template.Library()


@register.simple_tag
def version() -> str:
    return __version__
