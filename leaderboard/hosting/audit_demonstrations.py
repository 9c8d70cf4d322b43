"""Audits of the demonstration benchmarks' hidden splits, which run one after another.

They are published with the answers to findings that a benchmark's manifest has.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from leaderboard.core.refusal import Refused
from leaderboard.datasets.actions import audits, lifecycle
from leaderboard.datasets.queries import audit_results
from leaderboard.hosting.patience import Patience
from leaderboard.models import ACTIVE, Benchmark, Split, SplitAudit, State, User

LOOK_EVERY = 0.5
SAY_EVERY = 60.0


def audit(
    *,
    benchmark: Benchmark,
    answers: Mapping[str, str],
    by: User,
    seconds: float,
    say: Callable[[str], None] = lambda line: None,
) -> None:
    """Audit each published split with hidden gold that has no public audit, and publish the report with the answers.

    answers: public answers to errors and warnings, by the code of the finding; a report with an error or warning that
    has no answer is not published. seconds: how long to wait while no background work moves. say: called with each line
    of progress. Raises TimeoutError if nothing moves for longer, and an audit has not finished.
    """
    for split in benchmark.dataset.splits.filter(gold_public=False).exclude(inputs="").order_by("pk"):
        if split.is_published and not audit_results.public_audits(split):
            _audit_split(split, answers, by, seconds, say)


def _audit_split(
    split: Split, answers: Mapping[str, str], by: User, seconds: float, say: Callable[[str], None]
) -> None:
    row = audits.begin(split=split, by=by)
    patience = Patience(seconds)
    began = said = time.monotonic()
    while SplitAudit.objects.filter(pk=row.pk, state__in=ACTIVE).exists():
        if patience.is_over():
            raise TimeoutError(
                f"the audit of {split} did not finish, and no background work has moved for {seconds:.0f} s"
            )
        if time.monotonic() - said > SAY_EVERY:
            said = time.monotonic()
            say(f"{split}: the audit goes on, after {(said - began) / 60:.0f} min")
        time.sleep(LOOK_EVERY)
    row.refresh_from_db()
    if row.state != State.DONE:
        say(f"{split}: the audit failed: {row.get_reason_display()}")
        return
    for finding in audit_results.findings(row):
        if finding.severity in audit_results.TO_ANSWER and finding.code in answers:
            lifecycle.answer(audit=row, finding=finding.index, text=answers[finding.code], by=by)
    try:
        lifecycle.show_audit(audit=row, by=by)
    except Refused as refused:
        say(f"{split}: the audit was not published. {refused}")
    else:
        say(f"{split}: audited")
