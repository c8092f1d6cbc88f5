from __future__ import annotations

import asyncio
import threading

from engine.mcp.progress import ProgressRelay

Sent = list[tuple[float, float | None, str]]


def relay(sent: Sent, cancelled: threading.Event) -> ProgressRelay:
    async def send(done: float, total: float | None, text: str) -> None:
        sent.append((done, total, text))

    return ProgressRelay(send, cancelled)


def test_the_newest_report_is_sent_and_never_goes_back() -> None:
    sent: Sent = []

    async def scenario() -> None:
        report = relay(sent, threading.Event())
        await report.flush()
        for done in (1, 2, 2, 1):
            report(done, 4, "Checking")
            await report.flush()
        report(3, None, "Checking")
        report(4, 4, "Done")
        await report.flush()

    asyncio.run(scenario())

    assert sent == [(1.0, 4.0, "Checking"), (2.0, 4.0, "Checking"), (4.0, 4.0, "Done")]


def test_reports_of_another_thread_are_sent_while_it_works() -> None:
    sent: Sent = []
    arrived = threading.Event()

    async def scenario() -> None:
        async def send(done: float, total: float | None, text: str) -> None:
            sent.append((done, total, text))
            arrived.set()

        report = ProgressRelay(send, threading.Event())
        running = asyncio.ensure_future(report.run())

        def work() -> bool:
            report(1, 2, "Checking")
            return arrived.wait(60)

        assert await asyncio.to_thread(work)
        running.cancel()

    asyncio.run(scenario())

    assert sent == [(1.0, 2.0, "Checking")]


def test_nothing_is_sent_for_a_call_that_was_taken_back_nor_after_the_loop_has_closed() -> None:
    sent: Sent = []
    cancelled = threading.Event()
    made: list[ProgressRelay] = []

    async def scenario() -> None:
        made.append(relay(sent, cancelled))
        cancelled.set()
        made[0](1, 2, "Checking")
        await made[0].flush()
        made.append(relay(sent, threading.Event()))

    asyncio.run(scenario())
    made[1](1, 2, "Checking")

    assert sent == []
