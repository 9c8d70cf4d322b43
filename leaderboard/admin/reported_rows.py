"""Import format of reported results: how a row of a file becomes a ReportedResult, and a preview of the changes.

The preview writes nothing, because on SQLite a write transaction would block all other writers.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec
from django.core.exceptions import ValidationError
from django.utils.html import format_html
from import_export.fields import Field
from import_export.instance_loaders import BaseInstanceLoader
from import_export.resources import Diff, ModelResource
from import_export.results import Error, Result
from import_export.widgets import ForeignKeyWidget, JSONWidget
from tablib import Dataset

from leaderboard.models import AuditEntry, Benchmark, ReportedResult, reported_numbers

MOST_ROWS = 500
"""Maximum number of rows of a file: a paper has dozens of results, and a file is imported in one transaction."""
KEY_FIELDS = ("benchmark", "system", "paper", "table", "split")


class BenchmarkBySlug(ForeignKeyWidget):
    """Import widget that finds a benchmark by its slug; each slug is looked up once per file."""

    def __init__(self) -> None:
        super().__init__(Benchmark, "slug")
        self._benchmarks: dict[str, Benchmark | None] = {}

    def clean(self, value: Any, row: Any = None, **kwargs: Any) -> Benchmark:
        slug = str(value)
        if slug not in self._benchmarks:
            self._benchmarks[slug] = Benchmark.objects.filter(slug=slug).first()
        benchmark = self._benchmarks[slug]
        if benchmark is None:
            raise ValueError(f"benchmark is {value!r}; expected the short name of a benchmark on this site")
        return benchmark


class Numbers(JSONWidget):
    """Import widget of reported numbers in JSON. Their measures are checked later, by the model's own validation."""

    def clean(self, value: Any, row: Any = None, **kwargs: Any) -> Any:
        numbers = msgspec.json.decode(value) if isinstance(value, str) else value
        return msgspec.to_builtins(reported_numbers.check(numbers, task=None))

    def render(self, value: Any, obj: Any = None, **kwargs: Any) -> str:
        return json.dumps(value, ensure_ascii=False)


class Change(Diff):
    """A row's changes by field, for the preview.

    They are marked up without django-import-export's inline colours, which the Content-Security-Policy forbids.
    """

    def __init__(self, resource: ModelResource, instance: Any, new: bool) -> None:
        super().__init__(resource, instance, new)
        self.names = [field.column_name for field in resource.get_import_fields()]

    def as_html(self) -> list[Any]:
        """Return markup for each field: the change, the new value, or an empty text for an unchanged or empty field."""
        return [
            _change_html(name, "" if self.new else before, after)
            for name, before, after in zip(self.names, self.left, self.right, strict=True)
        ]


def _change_html(name: str, before: Any, after: Any) -> Any:
    if before in ("", after):
        return format_html("<strong>{}</strong>: {}", name, after) if after != "" else ""
    return format_html("<strong>{}</strong>: <del>{}</del> <ins>{}</ins>", name, before, after)


class ExistingRows(BaseInstanceLoader):
    """Loader of django-import-export that reads the stored results of all benchmarks in a file in one query."""

    def __init__(self, resource: ModelResource, dataset: Dataset) -> None:
        super().__init__(resource, dataset)
        slugs = set(map(str, dataset["benchmark"])) if "benchmark" in (dataset.headers or ()) else set()
        rows = ReportedResult.objects.filter(benchmark__slug__in=slugs).select_related("benchmark")
        self._existing = {(row.benchmark, *(getattr(row, name) for name in KEY_FIELDS[1:])): row for row in rows}

    def get_instance(self, row: Any) -> ReportedResult | None:
        try:
            return self._existing.get(tuple(self.resource.fields[name].clean(row) for name in KEY_FIELDS))
        except ValueError:  # unknown benchmark; the row's own validation reports it
            return None


class ReportedRows(ModelResource):
    """Import and export of reported results.

    A row is identified by benchmark, system, paper, table and split: it is changed if it exists, else added.
    """

    benchmark = Field(attribute="benchmark", column_name="benchmark", widget=BenchmarkBySlug())
    values = Field(attribute="values", column_name="values", widget=Numbers())

    class Meta:
        model = ReportedResult
        fields = (*KEY_FIELDS, "same_split", "values", "track", "note", "position")
        import_id_fields = KEY_FIELDS
        instance_loader_class = ExistingRows
        skip_unchanged = True
        report_skipped = True
        use_transactions = True

    def get_diff_class(self) -> type[Diff]:
        return Change

    def import_data(self, dataset: Dataset, dry_run: bool = False, raise_errors: bool = False, **kwargs: Any) -> Result:
        """Import all rows of a file or none. A file with more than MOST_ROWS rows is rejected.

        dry_run: only compute the preview, write nothing and use no transaction.
        """
        self._seen: dict[tuple[str, ...], int] = {}
        if len(dataset) > MOST_ROWS:
            result = Result()
            error = ValueError(f"The file has {len(dataset):,} rows; expected at most {MOST_ROWS:,}. Split the file.")
            result.append_base_error(Error(error))
            return result
        if not dry_run:
            return super().import_data(dataset, dry_run, raise_errors, **kwargs)
        for option in ("use_transactions", "collect_failed_rows", "rollback_on_validation_errors"):
            kwargs.pop(option, None)
        return self.import_data_inner(dataset, True, raise_errors, False, False, **kwargs)

    def before_import_row(self, row: Any, *, row_number: int, **kwargs: Any) -> None:
        key = tuple(str(row.get(name, "")) for name in KEY_FIELDS)
        first = self._seen.setdefault(key, row_number)
        if first != row_number:
            raise ValidationError(
                f"duplicates row {first}, with the same {', '.join(KEY_FIELDS[:-1])} and split; expected another "
                "value of one of them"
            )

    def validate_instance(
        self, instance: ReportedResult, import_validation_errors: Any = None, validate_unique: bool = True
    ) -> None:
        """Validate a row's fields and numbers.

        Uniqueness and the benchmark are not checked here: `before_import_row` and `BenchmarkBySlug` have checked them,
        without a query per row.
        """
        errors = dict(import_validation_errors or {})
        try:
            instance.full_clean(exclude={*errors, "benchmark"}, validate_unique=False, validate_constraints=False)
        except ValidationError as error:
            errors = error.update_error_dict(errors)
        if errors:
            raise ValidationError(errors)

    def after_save_instance(self, instance: ReportedResult, row: Any, **kwargs: Any) -> None:
        if not kwargs["dry_run"]:
            AuditEntry.record("reported.imported", instance, by=kwargs.get("user"), file=kwargs.get("file_name") or "")
