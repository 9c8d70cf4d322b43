"""Measures of fact-verification: accuracy of labels, measures of evidence, and measures of symmetric sets."""

from evaluator.measures.base import Difference, HarmonicMean, Ratio, statistic

_FEVER = "Thorne et al. 2018, FEVER shared task scorer"
_SYMMETRIC = "Schuster et al. 2019, section 4"

claim, correct = statistic("claim"), statistic("correct")
verifiable = statistic("verifiable")

ACCURACY = Ratio(
    name="accuracy",
    title="Accuracy",
    units=claim,
    numerator=correct,
    denominator=claim,
    doc="Share of claims whose label is correct.",
    source="Thorne et al. 2018",
)
FEVER_SCORE = Ratio(
    name="fever_score",
    title="FEVER score",
    units=claim,
    numerator=statistic("strict"),
    denominator=claim,
    requires="evidence",
    source=_FEVER,
    doc="Share of claims whose label is correct and, unless it is NOT ENOUGH INFO, for which one complete gold "
    "evidence set is within the first max_evidence predictions.",
)
EVIDENCE_PRECISION = Ratio(
    name="evidence_precision",
    title="Evidence precision",
    units=claim,
    requires="evidence",
    numerator=statistic("evidence_precision"),
    denominator=verifiable,
    empty=1.0,
    source=_FEVER,
    doc="Mean over verifiable claims of the share of the first max_evidence predictions that are in any gold "
    "set; a claim without predicted evidence counts 1. On a slice without verifiable claims, such as NOT ENOUGH INFO, "
    "it is 1 for every system.",
)
EVIDENCE_RECALL = Ratio(
    name="evidence_recall",
    title="Evidence recall",
    units=claim,
    requires="evidence",
    numerator=statistic("evidence_recall"),
    denominator=verifiable,
    empty=0.0,
    source=_FEVER,
    doc="Share of verifiable claims for which one complete gold set is within the first max_evidence "
    "predictions; a claim without gold evidence counts 1.",
)
EVIDENCE_F1 = HarmonicMean(
    name="evidence_f1",
    title="Evidence F1",
    units=claim,
    requires="evidence",
    a=EVIDENCE_PRECISION,
    b=EVIDENCE_RECALL,
    source=_FEVER,
    doc="Harmonic mean of evidence precision and evidence recall.",
)
GROUP_ACCURACY = Ratio(
    name="group_accuracy",
    title="Group accuracy",
    units=statistic("group"),
    per_group=True,
    requires="origin",
    numerator=statistic("group_right"),
    denominator=statistic("group"),
    source=_SYMMETRIC,
    doc="Share of groups in which every member's label is correct.",
)
_ORIGINAL = Ratio(
    name="accuracy_original",
    title="Accuracy on originals",
    units=statistic("original"),
    numerator=statistic("original_right"),
    denominator=statistic("original"),
    doc="Accuracy where origin is original.",
    source=_SYMMETRIC,
)
_GENERATED = Ratio(
    name="accuracy_generated",
    title="Accuracy on generated",
    units=statistic("generated"),
    numerator=statistic("generated_right"),
    denominator=statistic("generated"),
    doc="Accuracy where origin is generated.",
    source=_SYMMETRIC,
)
SYMMETRIC_GAP = Difference(
    name="symmetric_gap",
    title="Symmetric gap",
    units=claim,
    reported_units=statistic("original") + statistic("generated"),
    a=_ORIGINAL,
    b=_GENERATED,
    published=(("accuracy", ("origin", "original")), ("accuracy", ("origin", "generated"))),
    low=-1.0,
    higher_is_better=None,
    per_group=True,
    requires="origin",
    source=_SYMMETRIC,
    doc="Accuracy on originals minus accuracy on generated members: how much a system depends on cues of the original "
    "set.",
)
CLAIM_CONSISTENCY = Ratio(
    name="claim_consistency",
    title="Claim consistency",
    units=statistic("pair"),
    reported_units=claim,
    per_group=True,
    requires="origin",
    numerator=statistic("pair_right"),
    denominator=statistic("pair"),
    source=_SYMMETRIC,
    doc="Share of (group, claim) pairs whose claim is labelled correctly with each of its evidence texts.",
)

MEASURES = (
    ACCURACY,
    FEVER_SCORE,
    EVIDENCE_PRECISION,
    EVIDENCE_RECALL,
    EVIDENCE_F1,
    GROUP_ACCURACY,
    SYMMETRIC_GAP,
    CLAIM_CONSISTENCY,
)
