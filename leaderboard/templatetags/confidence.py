"""Template tag `{% confidence_level %}`: the confidence level of all intervals, as `95 %`.

It is one of the builtins in the settings, so templates need not load it.
"""

from django import template

from evaluator.statistics.confidence import percent

register = template.Library()
register.simple_tag(percent, name="confidence_level")
