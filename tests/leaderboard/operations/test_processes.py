"""The command lines of the site's processes."""

from __future__ import annotations

from gunicorn.config import Config

from leaderboard.operations import processes


def test_the_web_server_trusts_no_client_about_tls() -> None:
    """By default gunicorn trusts X-Forwarded-Proto from this machine, whatever HOLDOUT_PROXY says."""
    arguments = processes.web("127.0.0.1:0")
    options = Config().parser().parse_args(arguments[arguments.index("gunicorn") + 1 :])
    config = Config()
    assert config.forwarded_allow_ips
    config.set("forwarded_allow_ips", options.forwarded_allow_ips)
    assert config.forwarded_allow_networks() == []
