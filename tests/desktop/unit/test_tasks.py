from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from desktop.tasks import Tasks

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot


def test_work_runs_in_the_background_and_its_result_arrives_on_the_main_thread(tasks: Tasks, qtbot: QtBot) -> None:
    places: list[threading.Thread] = []

    def work(_cancelled: threading.Event) -> int:
        places.append(threading.current_thread())
        return 7

    results: list[tuple[int, threading.Thread]] = []
    tasks.run(work, lambda result: results.append((result, threading.current_thread())))
    qtbot.waitUntil(lambda: bool(results))
    assert results == [(7, threading.main_thread())]
    assert places[0].name.startswith("desktop-task")


def test_a_failure_goes_to_the_caller_and_else_to_the_default(qtbot: QtBot) -> None:
    default: list[Exception] = []
    own: list[Exception] = []
    tasks = Tasks(default.append)

    def work(_cancelled: threading.Event) -> None:
        raise ValueError("no")

    tasks.run(work, lambda _result: None, own.append)
    tasks.run(work, lambda _result: None)
    qtbot.waitUntil(lambda: bool(default) and bool(own))
    tasks.close()
    assert [str(each) for each in default + own] == ["no", "no"]


def test_a_task_that_is_taken_back_says_nothing_more(tasks: Tasks, qtbot: QtBot) -> None:
    gate = threading.Event()
    results: list[int] = []

    def wait(_cancelled: threading.Event) -> int:
        assert gate.wait(60)
        return 1

    cancelled = tasks.run(wait, results.append)
    cancelled.set()
    gate.set()
    tasks.run(lambda _: 2, results.append)
    qtbot.waitUntil(lambda: 2 in results)
    assert results == [2]


def test_of_several_questions_in_a_lane_only_the_newest_is_answered(tasks: Tasks, qtbot: QtBot) -> None:
    gate = threading.Event()
    began = threading.Event()
    asked: list[int] = []
    answers: list[int] = []
    lane = tasks.lane()

    def question(number: int) -> None:
        def work(_cancelled: threading.Event) -> int:
            asked.append(number)
            began.set()
            assert gate.wait(60)
            return number

        lane.run(work, answers.append)

    question(1)
    assert began.wait(60)
    for number in (2, 3, 4):
        question(number)
    assert lane.is_busy
    gate.set()
    qtbot.waitUntil(lambda: bool(answers))
    assert answers == [4]
    assert asked == [1, 4], "what was overtaken while waiting is never begun"
    assert not lane.is_busy


def test_a_cancelled_lane_is_not_busy_and_can_be_asked_again(tasks: Tasks, qtbot: QtBot) -> None:
    gate = threading.Event()
    answers: list[str] = []
    lane = tasks.lane()

    def slow(_cancelled: threading.Event) -> str:
        assert gate.wait(60)
        return "old"

    lane.run(slow, answers.append)
    lane.cancel()
    assert not lane.is_busy
    lane.run(lambda _: "new", answers.append)
    gate.set()
    qtbot.waitUntil(lambda: bool(answers))
    assert answers == ["new"]


def test_nothing_is_begun_after_the_end(qtbot: QtBot) -> None:
    tasks = Tasks(lambda _error: None)
    tasks.close()
    assert tasks.run(lambda _: 1, lambda _result: None).is_set()
    assert qtbot is not None


def test_any_thread_can_have_something_done_on_the_main_thread(tasks: Tasks, qtbot: QtBot) -> None:
    places: list[threading.Thread] = []
    thread = threading.Thread(target=lambda: tasks.later(lambda: places.append(threading.current_thread())))
    thread.start()
    thread.join(60)
    qtbot.waitUntil(lambda: bool(places))
    assert places == [threading.main_thread()]
