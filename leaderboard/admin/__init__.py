"""The curator's desk for records: Django's admin, entered through the site's own throttled log-in."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin

from leaderboard.admin import benchmarks, people, records, work

__all__ = ["benchmarks", "people", "records", "work"]

admin.site.site_header = "Holdout"
admin.site.site_title = "Holdout"
admin.site.index_title = "Records"
# Admin's own log-in page knows no throttle and no second factor.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]
