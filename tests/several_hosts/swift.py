"""OpenStack Swift with its S3 interface as the file store: one device, one copy of each file."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from tests.several_hosts.network import LAN
from tests.several_hosts.processes import Process, ProcessorTime, eventually

SERVERS = {"account": 6202, "container": 6201, "object": 6200}
PORT, MEMCACHED_PORT = 8090, 11211
BUCKETS = ("holdout-files", "holdout-gold")
PIPELINE = "catch_errors gatekeeper healthcheck cache listing_formats bulk s3api tempauth copy slo dlo proxy-server"
START_PATIENCE = 120.0


def missing() -> str:
    programs = ("swift-proxy-server", "swift-account-server", "swift-container-server", "swift-object-server")
    if all(shutil.which(name) for name in (*programs, "memcached")):
        return ""
    return "needs Swift: apt-get install swift-proxy swift-account swift-container swift-object memcached"


class Swift:
    can_hang = True
    signs_time = True

    def __init__(self, folder: Path, times: ProcessorTime) -> None:
        folder.mkdir()
        self.etc = folder / "etc"
        (folder / "devices" / "disk").mkdir(parents=True)
        self.etc.mkdir()
        (self.etc / "swift.conf").write_text("[swift-hash]\nswift_hash_path_suffix = holdout\n")
        self._rings()
        self.processes = [self._process(folder, kind, times) for kind in ("proxy", *SERVERS)]
        memcached = ["memcached", "-u", "nobody", "-l", LAN, "-p", str(MEMCACHED_PORT)]
        self.processes.append(Process(memcached, kind="swift", log=folder / "memcached.log", times=times))
        for process in self.processes:
            process.start()
        self.environment = {
            "HOLDOUT_S3_ENDPOINT": f"http://{LAN}:{PORT}",
            "HOLDOUT_S3_BUCKET": BUCKETS[0],
            "HOLDOUT_S3_GOLD_BUCKET": BUCKETS[1],
            "AWS_ACCESS_KEY_ID": "site:holdout",
            "AWS_SECRET_ACCESS_KEY": "a-key-of-tests",
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    def _rings(self) -> None:
        for kind, port in SERVERS.items():
            builder = self.etc / f"{kind}.builder"
            device = f"r1z1-{LAN}:{port}/disk"
            for command in (["create", "6", "1", "0"], ["add", device, "1"], ["rebalance"]):
                words = ["swift-ring-builder", str(builder), *command]
                done = subprocess.run(words, capture_output=True, text=True, check=False)
                assert done.returncode < 2, done.stdout + done.stderr

    def _process(self, folder: Path, kind: str, times: ProcessorTime) -> Process:
        log = folder / f"{kind}.log"
        config = self.etc / f"{kind}.conf"
        port = SERVERS.get(kind, PORT)
        common = f"bind_ip = {LAN}\nbind_port = {port}\nworkers = 0\nuser = root\nswift_dir = {self.etc}\n"
        common += f"devices = {folder / 'devices'}\nmount_check = false\nlog_level = WARNING\n"
        if kind == "proxy":
            filters = {name: {"use": f"egg:swift#{name}"} for name in PIPELINE.split()[:-1]}
            filters["cache"] = {"use": "egg:swift#memcache", "memcache_servers": f"{LAN}:{MEMCACHED_PORT}"}
            filters["tempauth"]["user_site_holdout"] = "a-key-of-tests .admin"
            filters["s3api"]["location"] = "us-east-1"
            text = f"[DEFAULT]\n{common}[pipeline:main]\npipeline = {PIPELINE}\n"
            text += "[app:proxy-server]\nuse = egg:swift#proxy\naccount_autocreate = true\n"
            for name, options in filters.items():
                text += f"[filter:{name}]\n" + "".join(f"{key} = {value}\n" for key, value in options.items())
        else:
            text = f"[DEFAULT]\n{common}[pipeline:main]\npipeline = {kind}-server\n"
            text += f"[app:{kind}-server]\nuse = egg:swift#{kind}\n"
        config.write_text(text)
        # The path of swift.conf is fixed.
        mounted = ["unshare", "--mount", "sh", "-c", f'mount --bind {self.etc} /etc/swift && exec "$@"', "sh"]
        command = [*mounted, "/usr/bin/python3", f"/usr/bin/swift-{kind}-server", str(config), "--verbose"]
        return Process(
            command, kind="swift", log=log, times=times, env={**os.environ, "PATH": "/usr/bin:/usr/sbin:/bin"}
        )

    def create(self) -> None:
        """Create the buckets, as soon as the store responds."""
        env = self.environment
        client = boto3.client(
            "s3",
            endpoint_url=env["HOLDOUT_S3_ENDPOINT"],
            region_name=env["AWS_DEFAULT_REGION"],
            aws_access_key_id=env["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=env["AWS_SECRET_ACCESS_KEY"],
        )

        def created() -> bool:
            try:
                for bucket in BUCKETS:
                    client.create_bucket(Bucket=bucket)
            except client.exceptions.BucketAlreadyOwnedByYou:
                return len(client.list_buckets()["Buckets"]) == len(BUCKETS)
            except (BotoCoreError, ClientError):
                return False
            return True

        eventually(created, "Swift", seconds=START_PATIENCE)

    def freeze(self) -> None:
        for process in self.processes:
            process.send(signal.SIGSTOP)

    def thaw(self) -> None:
        for process in self.processes:
            process.send(signal.SIGCONT)

    def stop(self) -> None:
        self.thaw()
        for process in self.processes:
            process.stop()
