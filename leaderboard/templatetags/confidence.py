"""`{% confidence_level %}`: the level of all intervals, as `95 %`. Built in: templates need not load it."""

from django import template

from evaluator.statistics.confidence import percent

register = template.Library()
register.simple_tag(percent, name="confidence_level")
