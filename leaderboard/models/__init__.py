"""Database models, one module per concept."""

from .announcement import Announcement, Extension
from .archive import ArchiveArrival, ArchiveExport
from .audit import AuditEntry
from .benchmark import Benchmark, Phase
from .comparison import Comparison, Ranking, SideBySide
from .correction import ChangedItem, Correction, Move
from .dataset import Dataset, Division, GoldVersion, Split
from .download import Download
from .dry_run import DryRun
from .generation import GeneratedFrom, GeneratedPart, Generation
from .hidden_submission import HiddenSubmission
from .image import Image, ImageUpload
from .invitation import Invitation
from .leaderboard import Disqualification, Drawing, Leaderboard, Release, ReleaseSlice, Representative, Standing
from .near_copy import Likeness, NearCopy
from .notice import Notice, Webhook
from .raw_file import RawFile, RawUpload
from .rehearsal import Rehearsal
from .reported import ReportedResult
from .run import Run, Score
from .scorer import Scorer
from .split_audit import AuditAnswer, SplitAudit
from .state import TERMINAL, Reason, State
from .submission import Final, Prediction, QuotaCharge, Stage, Submission
from .team import Membership, System, Team
from .user import User
from .worker import WorkerReport

__all__ = [
    "TERMINAL",
    "Announcement",
    "ArchiveArrival",
    "ArchiveExport",
    "AuditAnswer",
    "AuditEntry",
    "Benchmark",
    "ChangedItem",
    "Comparison",
    "Correction",
    "Dataset",
    "Disqualification",
    "Division",
    "Download",
    "Drawing",
    "DryRun",
    "Extension",
    "Final",
    "GeneratedFrom",
    "GeneratedPart",
    "Generation",
    "GoldVersion",
    "HiddenSubmission",
    "Image",
    "ImageUpload",
    "Invitation",
    "Leaderboard",
    "Likeness",
    "Membership",
    "Move",
    "NearCopy",
    "Notice",
    "Phase",
    "Prediction",
    "QuotaCharge",
    "Ranking",
    "RawFile",
    "RawUpload",
    "Reason",
    "Rehearsal",
    "Release",
    "ReleaseSlice",
    "ReportedResult",
    "Representative",
    "Run",
    "Score",
    "Scorer",
    "SideBySide",
    "Split",
    "SplitAudit",
    "Stage",
    "Standing",
    "State",
    "Submission",
    "System",
    "Team",
    "User",
    "Webhook",
    "WorkerReport",
]
