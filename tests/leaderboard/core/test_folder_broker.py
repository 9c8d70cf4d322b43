"""Messages in a folder are written atomically."""

from __future__ import annotations

import threading
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from kombu import Connection, Exchange, Queue

from leaderboard.core import folder_broker


@pytest.fixture
def channel(tmp_path: Path) -> Any:
    folder_broker.register()
    folders = {"data_folder_in": str(tmp_path), "data_folder_out": str(tmp_path), "control_folder": str(tmp_path)}
    with Connection("folder://localhost//", transport_options=folders) as connection:
        yield connection.channel()


def test_a_reader_never_sees_a_partial_message(channel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process reads while a message is being written."""
    messages_read = []
    write = Path.write_text

    def write_slowly(path: Path, text: str) -> int:
        write(path, text[:3])
        with pytest.raises(Empty):
            channel._get("scoring")
        messages_read.append(path)
        return write(path, text)

    monkeypatch.setattr(Path, "write_text", write_slowly)
    channel._put("scoring", {"id": 1})
    assert len(messages_read) == 1
    assert channel._get("scoring") == {"id": 1}


def test_messages_come_once_and_in_order(channel: Any) -> None:
    for number in range(50):
        channel._put("scoring", {"id": number})
    channel._put("systems", {"id": "elsewhere"})
    assert [channel._get("scoring")["id"] for _ in range(50)] == [*range(50)]
    with pytest.raises(Empty):
        channel._get("scoring")


def test_a_missing_folder_is_reported(channel: Any, tmp_path: Path) -> None:
    tmp_path.rmdir()
    with pytest.raises(Exception, match="cannot write the message"):
        channel._put("scoring", {})


@pytest.mark.parametrize("has_inotify", [True, False])
def test_a_waiting_worker_gets_a_message_at_once(
    channel: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_inotify: bool
) -> None:
    """Without inotify, of which the kernel gives a user few, it lists the folder every POLL_SECONDS."""
    if has_inotify:
        monkeypatch.setattr(folder_broker, "POLL_SECONDS", 1e6)
    else:
        monkeypatch.setattr(folder_broker, "_watch", lambda folder: -1)
    received: list[Any] = []
    woken: list[bool] = []
    select = folder_broker.select.select

    def note_result(*arguments: Any) -> Any:
        result = select(*arguments)
        woken.append(bool(result[0]))
        return result

    monkeypatch.setattr(folder_broker.select, "select", note_result)
    connection = channel.connection.client
    name = f"inotify-{has_inotify}"  # Kombu remembers which queues it has bound
    queue = Queue(name, Exchange(name), routing_key=name, channel=channel)
    waiting = threading.Event()
    wait = folder_broker.Transport._wait

    def note(self: Any, *arguments: Any, **more: Any) -> None:
        if self._events is not None:
            waiting.set()
        wait(self, *arguments, **more)

    monkeypatch.setattr(folder_broker.Transport, "_wait", note)
    with connection.Consumer(queue, callbacks=[lambda body, message: received.append(body)]):
        consuming = threading.Thread(target=connection.drain_events, kwargs={"timeout": 60})
        consuming.start()
        assert waiting.wait(60)
        with Connection("folder://localhost//", transport_options=connection.transport_options) as other:
            other.Producer().publish({"id": 1}, exchange=name, routing_key=name)
        consuming.join(60)
    assert received == [{"id": 1}]
    assert all(woken) and bool(woken) == has_inotify, "the message ended the wait"


def test_a_wait_ends_without_a_message(channel: Any) -> None:
    with pytest.raises(TimeoutError):
        channel.connection.client.drain_events(timeout=0.01)
