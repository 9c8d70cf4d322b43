"""What is stored, one file a noun."""

from .audit import AuditEntry
from .benchmark import Benchmark, Phase, ReportedResult
from .comparison import Comparison, Ranking
from .dataset import Dataset, Division, GoldVersion, Split
from .download import Download
from .image import Image, ImageUpload
from .leaderboard import Leaderboard, Release, Standing
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
    "Division",
    "Download",
    "Final",
    "GoldVersion",
    "Image",
    "ImageUpload",
    "Leaderboard",
    "Membership",
    "Phase",
    "Prediction",
    "QuotaCharge",
    "Ranking",
    "Reason",
    "Release",
    "ReportedResult",
    "Run",
    "Score",
    "Scorer",
    "Split",
    "Stage",
    "Standing",
    "State",
    "Submission",
    "System",
    "Team",
    "User",
    "WorkerReport",
]
