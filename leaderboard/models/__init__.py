"""Database models, one module per concept."""

from .announcement import Announcement, Extension
from .archive import ArchiveExport, ArchiveImport
from .audit_log import AuditEntry
from .benchmark import Benchmark, Phase, Teaser
from .chunked_upload import UploadPiece
from .comparison import Comparison, HeadToHead, Ranking
from .correction import ChangedItem, Correction, GoldUpload, RankChange
from .dataset import Dataset, GoldVersion, PublicPrivatePartition, Split
from .download import Download
from .generation import GeneratedFrom, GeneratedPart, Generation
from .hidden_submission import HiddenSubmission
from .image import Image, ImageUpload
from .leaderboard import (
    BoardHistory,
    Disqualification,
    Leaderboard,
    PastStanding,
    Release,
    ReleasePlot,
    ReleaseSlice,
    Representative,
    Standing,
)
from .near_duplicate import NearDuplicate, SimilarityCheck
from .notice import Follow, Notice, RankSnapshot, Webhook
from .plot_picture import PlotPicture, PlotRendering
from .raw_file import RawFile, RawUpload
from .registration import Bar, Registration, RulesAgreement
from .reported import ReportedResult
from .run import Run, Score
from .scorer import Scorer
from .split_audit import AuditAnswer, SplitAudit
from .state import ACTIVE, TERMINAL, Reason, State
from .submission import Final, Prediction, QuotaCharge, Stage, Submission
from .team import Invitation, Membership, System, Team
from .user import Profile, TokenDetails, User
from .worker import Placement, WorkerReport

__all__ = [
    "ACTIVE",
    "TERMINAL",
    "Announcement",
    "ArchiveExport",
    "ArchiveImport",
    "AuditAnswer",
    "AuditEntry",
    "Bar",
    "Benchmark",
    "BoardHistory",
    "ChangedItem",
    "Comparison",
    "Correction",
    "Dataset",
    "Disqualification",
    "Download",
    "Extension",
    "Final",
    "Follow",
    "GeneratedFrom",
    "GeneratedPart",
    "Generation",
    "GoldUpload",
    "GoldVersion",
    "HeadToHead",
    "HiddenSubmission",
    "Image",
    "ImageUpload",
    "Invitation",
    "Leaderboard",
    "Membership",
    "NearDuplicate",
    "Notice",
    "PastStanding",
    "Phase",
    "Placement",
    "PlotPicture",
    "PlotRendering",
    "Prediction",
    "Profile",
    "PublicPrivatePartition",
    "QuotaCharge",
    "RankChange",
    "RankSnapshot",
    "Ranking",
    "RawFile",
    "RawUpload",
    "Reason",
    "Registration",
    "Release",
    "ReleasePlot",
    "ReleaseSlice",
    "ReportedResult",
    "Representative",
    "RulesAgreement",
    "Run",
    "Score",
    "Scorer",
    "SimilarityCheck",
    "Split",
    "SplitAudit",
    "Stage",
    "Standing",
    "State",
    "Submission",
    "System",
    "Team",
    "Teaser",
    "TokenDetails",
    "UploadPiece",
    "User",
    "Webhook",
    "WorkerReport",
]
