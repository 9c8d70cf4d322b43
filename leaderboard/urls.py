"""Every address of the site."""

from django.urls import path

urlpatterns: list[path] = []
