"""The command lines of the site's processes."""

from __future__ import annotations

from gunicorn.config import Config

from leaderboard.operations import processes


def test_the_web_server_believes_no_caller_about_tls() -> None:
    """By itself gunicorn takes X-Forwarded-Proto from this machine for true, whatever HOLDOUT_PROXY says."""
    arguments = processes.web("127.0.0.1:0")
    given = Config().parser().parse_args(arguments[arguments.index("gunicorn") + 1 :])
    config = Config()
    assert config.forwarded_allow_ips
    config.set("forwarded_allow_ips", given.forwarded_allow_ips)
    assert config.forwarded_allow_networks() == []
