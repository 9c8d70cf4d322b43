"""Template filter for fields of forms from other packages."""

from __future__ import annotations

from django import template
from django.forms.boundfield import BoundField

register = template.Library()


@register.filter
def without_placeholder(field: BoundField) -> BoundField:
    """Return the field without its placeholder: those of django-allauth repeat the label."""
    field.field.widget.attrs.pop("placeholder", None)
    return field
