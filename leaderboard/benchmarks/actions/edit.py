"""Changing what a benchmark says of itself, and who organises it. Its short name, task and data stay as they were made.

A page is filled in over minutes: whoever saves says what stood there when it was opened, and is refused where somebody
else has changed it since.
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

OF_BENCHMARK = ("title", "summary", "description", "rules", "contact")
OF_DATASET = ("licence", "citation", "source_url")
ORGANISERS = "organisers"
EVERYTHING = (*OF_BENCHMARK, *OF_DATASET, ORGANISERS)
MOST_ORGANISERS = 100
NOT_CHANGED = "The benchmark was not changed"


def state_of(benchmark: Benchmark) -> dict[str, str]:
    """What can be changed, by name, as it stands; the organisers' usernames one a line."""
    found = {name: normal(getattr(benchmark, name)) for name in OF_BENCHMARK}
    found |= {name: normal(getattr(benchmark.dataset, name)) for name in OF_DATASET}
    found[ORGANISERS] = "\n".join(benchmark.organisers.order_by("username").values_list("username", flat=True))
    return found


def normal(text: str) -> str:
    """Forms send other ends of lines than files have, and lose blanks at both ends: neither is a change."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def mark(text: str) -> str:
    """What a page keeps of a text to know later whether it is still the same."""
    return hashlib.sha256(normal(text).encode()).hexdigest()[:32]


def marks(state: Mapping[str, str]) -> dict[str, str]:
    return {name: mark(text) for name, text in state.items()}


def changed_since(state: Mapping[str, str], seen: Mapping[str, str]) -> list[str]:
    """Names of what is not as somebody saw it. seen: `marks` of then."""
    return [name for name in EVERYTHING if seen.get(name) != mark(state[name])]


def may_change_dataset(benchmark: Benchmark, by: User) -> bool:
    """A dataset's licence and citation are told by every benchmark on it: whoever changes them manages them all."""
    return by.is_curator or not others_on_dataset(benchmark).exclude(pk__in=by.benchmarks.values("pk")).exists()


def others_on_dataset(benchmark: Benchmark) -> QuerySet[Benchmark]:
    """Other benchmarks that show the dataset's licence and citation, without rehearsals."""
    return benchmark.dataset.benchmarks.exclude(pk=benchmark.pk).exclude(state=Benchmark.State.REHEARSAL)


@transaction.atomic
def edit(
    *, benchmark: Benchmark, asked: Mapping[str, str], seen: Mapping[str, str], by: User, leaves: bool = False
) -> list[str]:
    """Change what differs in `asked` (names of EVERYTHING, as `state_of` has them); returns the names of what did.

    leaves: whoever asks means to manage it no more. Raises Refused: NOT_AN_ORGANISER; INVALID_NAME for a text or an
    account; NOT_READY where somebody else changed it since (`seen`), for the last organiser, and for a rehearsal.
    """
    held = Benchmark.objects.select_for_update(of=("self",)).get(pk=benchmark.pk)
    held.dataset = Dataset.objects.select_for_update().get(pk=held.dataset_id)
    check_manages(held, by)
    if held.is_rehearsal:
        raise Refused(
            Code.NOT_READY, "A rehearsal is a copy; change the benchmark that it was made of.", heading=NOT_CHANGED
        )
    now = state_of(held)
    if not seen:
        raise Refused(
            Code.NOT_READY,
            "What stood there when this page was opened did not come with it. Read what stands there, and save again.",
            heading=NOT_CHANGED,
        )
    if stale := changed_since(now, seen):
        raise Refused(
            Code.NOT_READY,
            f"Somebody else has changed it since this page was opened: {_listed(stale)}.",
            heading=NOT_CHANGED,
        )
    new = {name: normal(text) for name, text in asked.items() if normal(text) != now[name]}
    validation.check_texts(**new)
    _set_texts(held, {name: new[name] for name in OF_BENCHMARK if name in new})
    _set_of_dataset(held, {name: new[name] for name in OF_DATASET if name in new}, by)
    people = _set_organisers(held, new[ORGANISERS], by, leaves) if ORGANISERS in new else {}
    ours = [name for name in (*OF_BENCHMARK, ORGANISERS) if name in new and (name != ORGANISERS or people)]
    if ours:
        before = {"rules_before": now["rules"]} if "rules" in new else {}
        AuditEntry.record("benchmark.edited", held, by=by, changed=ours, **before, **people)
    return [name for name in EVERYTHING if name in ours or (name in OF_DATASET and name in new)]


def _set_texts(benchmark: Benchmark, new: Mapping[str, str]) -> None:
    if not new:
        return
    for name, text in new.items():
        setattr(benchmark, name, checked_contact(text) if name == "contact" else text)
    validation.check(benchmark)
    benchmark.save(update_fields=list(new))


def _set_of_dataset(benchmark: Benchmark, new: Mapping[str, str], by: User) -> None:
    if not new:
        return
    if not may_change_dataset(benchmark, by):
        raise Refused(
            Code.NOT_AN_ORGANISER,
            "Other benchmarks stand on this dataset; its licence, citation and source are changed by who manages all "
            "of them.",
            heading=NOT_CHANGED,
        )
    dataset = benchmark.dataset
    for name, text in new.items():
        setattr(dataset, name, text)
    validation.check(dataset)
    dataset.save(update_fields=list(new))
    AuditEntry.record("dataset.edited", dataset, by=by, changed=list(new))


def _set_organisers(benchmark: Benchmark, typed: str, by: User, leaves: bool) -> dict[str, list[str]]:
    """Who came and who went, by username; empty where the same people are named in another order."""
    before = {one.username: one for one in benchmark.organisers.all()}
    after = _accounts(typed, before)
    came = [one for name, one in after.items() if name not in before]
    went = [one for name, one in before.items() if name not in after]
    if went and not any(one.is_active for one in after.values()):
        raise Refused(Code.NOT_READY, "That would leave nobody; a benchmark keeps an organiser.", heading=NOT_CHANGED)
    if by in went and not by.is_curator and not leaves:
        raise Refused(
            Code.NOT_READY,
            "You would take yourself off and manage this benchmark no more; tick that if you mean it.",
            heading=NOT_CHANGED,
        )
    if not came and not went:
        return {}
    benchmark.organisers.set(after.values())
    # Copies of it in which a phase was rehearsed show what its organisers see.
    for copied in Benchmark.objects.filter(rehearsal__phase__benchmark=benchmark):
        copied.organisers.remove(*went)
        copied.organisers.add(*came)
    told = {"organisers_added": came, "organisers_removed": went}
    return {name: sorted(one.username for one in people) for name, people in told.items() if people}


def _accounts(typed: str, before: Mapping[str, User]) -> dict[str, User]:
    """Those named, one a line, by username; whoever organises it already may stay, also switched off."""
    names = list(dict.fromkeys(line.strip() for line in typed.splitlines() if line.strip()))
    if len(names) > MOST_ORGANISERS:
        raise Refused(Code.INVALID_NAME, f"{len(names)} people are named; expected at most {MOST_ORGANISERS}.")
    found = {one.username: one for one in User.objects.filter(username__in=names)}
    unknown = [name for name in names if name not in found or not (found[name].is_active or name in before)]
    if unknown:
        raise Refused(Code.INVALID_NAME, f"There is no account {_listed(unknown[:10])}.")
    return {name: found[name] for name in names}


def _listed(names: Sequence[str]) -> str:
    return ", ".join(name.replace("_", " ") for name in names)
