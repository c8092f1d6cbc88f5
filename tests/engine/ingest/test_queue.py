"""The queue of files: newest first, each once, and nobody waits for ever."""

from __future__ import annotations

import threading

from engine.ingest.queue import FileTask, IngestQueue


def names(queue: IngestQueue) -> list[str]:
    found: list[str] = []
    while (task := queue.get(0)) is not None:
        found.append(task.relative)
    return found


def test_newest_files_come_first() -> None:
    queue = IngestQueue()
    for age, name in ((3, "old"), (1, "new"), (2, "middle")):
        queue.put(FileTask(age, 1, name))
    assert names(queue) == ["new", "middle", "old"]


def test_a_file_waits_once_at_its_sooner_place_and_keeps_being_forced() -> None:
    queue = IngestQueue()
    queue.put(FileTask(9, 1, "a", 10, force=True))
    queue.put(FileTask(5, 1, "b", 1))
    queue.put(FileTask(1, 1, "a", 12))
    queue.put(FileTask(7, 1, "a", 12))
    assert queue.waiting == (2, 13)
    first = queue.get(0)
    assert first is not None
    assert (first.relative, first.order, first.force, first.size) == ("a", 1, True, 12)
    assert names(queue) == ["b"]
    assert queue.waiting == (0, 0)


def test_the_same_path_below_two_roots_is_two_files() -> None:
    queue = IngestQueue()
    queue.put(FileTask(1, 1, "a"))
    queue.put(FileTask(1, 2, "a"))
    assert names(queue) == ["a", "a"]


def test_who_waits_is_woken_by_a_file_and_by_the_end() -> None:
    queue = IngestQueue()
    found: list[FileTask | None] = []
    waiting = threading.Thread(target=lambda: found.extend((queue.get(None), queue.get(None))))
    waiting.start()
    queue.put(FileTask(1, 1, "a"))
    queue.close()
    waiting.join(60)
    assert not waiting.is_alive()
    assert found[-1] is None
