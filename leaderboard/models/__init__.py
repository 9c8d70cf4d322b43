"""What is stored, one file a noun."""

from .audit import AuditEntry
from .benchmark import Benchmark, Phase, ReportedResult
from .comparison import Comparison, Ranking, SideBySide
from .dataset import Dataset, Division, GoldVersion, Split
from .download import Download
from .image import Image, ImageUpload
from .leaderboard import Disqualification, Leaderboard, Release, Representative, Standing
from .notice import Notice, Webhook
from .run import Run, Score
from .scorer import Scorer
from .state import TERMINAL, Reason, State
from .submission import Final, Prediction, QuotaCharge, Stage, Submission
from .team import Membership, System, Team
from .user import User
from .worker import WorkerReport

__all__ = [
    "TERMINAL",
    "AuditEntry",
    "Benchmark",
    "Comparison",
    "Dataset",
    "Disqualification",
    "Division",
    "Download",
    "Final",
    "GoldVersion",
    "Image",
    "ImageUpload",
    "Leaderboard",
    "Membership",
    "Notice",
    "Phase",
    "Prediction",
    "QuotaCharge",
    "Ranking",
    "Reason",
    "Release",
    "ReportedResult",
    "Representative",
    "Run",
    "Score",
    "Scorer",
    "SideBySide",
    "Split",
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
