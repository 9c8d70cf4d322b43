"""Editing of a benchmark's texts and main phase. Its slug, task and data cannot be changed.

Editing uses optimistic locking: a form sends digests of the values that it was opened with, and saving is refused if
somebody else has changed one of them since.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from django.db import transaction
from django.db.models import QuerySet

from leaderboard.benchmarks.actions.announcements import checked_contact
from leaderboard.core import validation
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages
from leaderboard.models import AuditEntry, Benchmark, Dataset, User

OF_BENCHMARK = (
    *("title", "summary", "description", "rules", "contact"),
    *("questions_url", "paper_url", "shown_organisers"),
)
OF_DATASET = ("licence", "citation", "source_url")
MAIN_PHASE = "main_phase"
EVERYTHING = (*OF_BENCHMARK, MAIN_PHASE, *OF_DATASET)
NOT_CHANGED = "The benchmark was not changed"


def state_of(benchmark: Benchmark) -> dict[str, str]:
    """Return the benchmark's current editable values by name.

    `main_phase` is the chosen phase's slug, empty if none is chosen.
    """
    values = {name: normal(getattr(benchmark, name)) for name in OF_BENCHMARK}
    values |= {name: normal(getattr(benchmark.dataset, name)) for name in OF_DATASET}
    values[MAIN_PHASE] = benchmark.phases.filter(is_main=True).values_list("slug", flat=True).first() or ""
    return values


def normal(text: str) -> str:
    """Normalise line endings, and strip white space at both ends: browsers may change them without an edit."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def mark(text: str) -> str:
    """Return a digest of a text. A different digest later means that the text has been changed."""
    return hashlib.sha256(normal(text).encode()).hexdigest()[:32]


def marks(state: Mapping[str, str]) -> dict[str, str]:
    return {name: mark(text) for name, text in state.items()}


def changed_since(state: Mapping[str, str], seen: Mapping[str, str]) -> list[str]:
    """Return the names of the values in `state` whose digest is not the one in `seen`, an earlier result of `marks`."""
    return [name for name in EVERYTHING if seen.get(name) != mark(state[name])]


def may_change_dataset(benchmark: Benchmark, by: User) -> bool:
    """Return True if `by` may change the dataset's licence, citation and source, which all its benchmarks share.

    Curators may, and whoever organises all other benchmarks on the dataset. The right to manage this benchmark itself
    is not checked.
    """
    return by.is_curator or not others_on_dataset(benchmark).exclude(pk__in=by.benchmarks.values("pk")).exists()


def others_on_dataset(benchmark: Benchmark) -> QuerySet[Benchmark]:
    """Return the other benchmarks on the benchmark's dataset."""
    return benchmark.dataset.benchmarks.exclude(pk=benchmark.pk)


@transaction.atomic
def edit(*, benchmark: Benchmark, values: Mapping[str, str], seen: Mapping[str, str], by: User) -> list[str]:
    """Save the values that differ from the current ones. Return the names of the changed values.

    values: new values by name, in the form that `state_of` returns. seen: `marks` of the values that the form was
    opened with. Raises Refused: NOT_AN_ORGANISER, also for a dataset that `by` may not change (`may_change_dataset`);
    INVALID_VALUE for an invalid text; CHANGED_MEANWHILE if `seen` is empty, or somebody else has changed a value in the
    meantime.
    """
    locked = Benchmark.objects.select_for_update(of=("self",)).get(pk=benchmark.pk)
    locked.dataset = Dataset.objects.select_for_update().get(pk=locked.dataset_id)
    check_manages(locked, by)
    current = state_of(locked)
    if not seen:
        raise Refused(
            Code.CHANGED_MEANWHILE,
            "The form did not say which texts it was opened with, so changes by somebody else since then cannot be "
            "detected. Check the current texts, and save again.",
            heading=NOT_CHANGED,
        )
    if stale := changed_since(current, seen):
        raise Refused(
            Code.CHANGED_MEANWHILE,
            f"Someone else has changed these fields since you opened this page: {_joined(stale)}. Check them, and save "
            "again.",
            heading=NOT_CHANGED,
        )
    new = {name: normal(text) for name, text in values.items() if normal(text) != current[name]}
    validation.check_texts(**new)
    _set_texts(locked, {name: new[name] for name in OF_BENCHMARK if name in new})
    if MAIN_PHASE in new:
        _set_main_phase(locked, new[MAIN_PHASE])
    _set_of_dataset(locked, {name: new[name] for name in OF_DATASET if name in new}, by)
    changed = [name for name in (*OF_BENCHMARK, MAIN_PHASE) if name in new]
    if changed:
        changes = {name: {"before": current[name], "after": new[name]} for name in changed}
        AuditEntry.record("benchmark.edited", locked, by=by, **changes)
    return [name for name in EVERYTHING if name in new]


def _set_texts(benchmark: Benchmark, new: Mapping[str, str]) -> None:
    if not new:
        return
    for name, text in new.items():
        setattr(benchmark, name, checked_contact(text) if name == "contact" else text)
    validation.check(benchmark)
    benchmark.save(update_fields=list(new))


def _set_main_phase(benchmark: Benchmark, slug: str) -> None:
    phase = benchmark.phases.filter(slug=slug).first()
    if slug and phase is None:
        raise Refused(Code.INVALID_VALUE, f"The benchmark has no phase {slug}; expected the short name of a phase.")
    for former in benchmark.phases.filter(is_main=True):
        former.is_main = False
        former.save(update_fields=["is_main"])
    if phase is not None:
        phase.is_main = True
        phase.save(update_fields=["is_main"])


def _set_of_dataset(benchmark: Benchmark, new: Mapping[str, str], by: User) -> None:
    if not new:
        return
    if not may_change_dataset(benchmark, by):
        raise Refused(
            Code.NOT_AN_ORGANISER,
            "Other benchmarks use this dataset too; only someone who manages all of them may change its licence, "
            "citation and source.",
            heading=NOT_CHANGED,
        )
    dataset = benchmark.dataset
    values = {name: {"before": getattr(dataset, name), "after": text} for name, text in new.items()}
    for name, text in new.items():
        setattr(dataset, name, text)
    validation.check(dataset)
    dataset.save(update_fields=list(new))
    AuditEntry.record("dataset.edited", dataset, by=by, **values)


def _joined(names: Sequence[str]) -> str:
    return ", ".join(name.replace("_", " ") for name in names)
