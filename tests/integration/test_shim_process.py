"""The shim as Claude Code meets it: a process, its stdio, its parent, and engines that come and go."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import psutil
import pytest

from engine.core.paths import Paths
from engine.ipc.catalogue import Catalogue
from tests.helpers.fake_engine import FakeEngine, params_of
from tests.helpers.shim_process import FAILING_ENGINE, FAKE_ENGINE, ROOT, WAIT_S, ShimProcess

if TYPE_CHECKING:
    from engine.ipc.protocol import JsonObject

pytestmark = pytest.mark.integration

INITIALIZE: JsonObject = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "claude-code", "version": "2"},
}
ENVELOPE: JsonObject = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
MEMORY_LIMIT_BYTES = 20 * 1024 * 1024


@pytest.fixture
def paths(short_tmp: Path) -> Paths:
    places = Paths.below(short_tmp)
    places.ensure()
    return places


def result(reply: JsonObject) -> JsonObject:
    assert "result" in reply, reply
    return cast("JsonObject", reply["result"])


def error_text(reply: JsonObject) -> str:
    return str(cast("JsonObject", reply["error"])["message"])


def open_session(shim: ShimProcess) -> JsonObject:
    reply = shim.ask(0, "initialize", INITIALIZE)
    shim.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    return result(reply)


def write_catalogue(paths: Paths, toolset: str) -> None:
    catalogue = Catalogue(
        version="started",
        protocolVersions=["2025-06-18"],
        handshake={"initialize": {"serverInfo": {"name": toolset}}, "tools/list": {"tools": [{"name": toolset}]}},
        modern={"server/discover": {"supportedVersions": ["2026-07-28"]}},
    )
    paths.catalogue_file(toolset).write_text(json.dumps(catalogue), encoding="utf-8")


@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_it_relays_and_ends_with_its_input(paths: Paths, era: str) -> None:
    extra = ENVELOPE if era == "modern" else {}
    with FakeEngine(paths), ShimProcess(paths) as shim:
        if era == "handshake":
            assert open_session(shim)["protocolVersion"] == "2025-06-18"
        else:
            assert result(shim.ask("d", "server/discover", extra))["supportedVersions"] == ["2026-07-28"]
        for number in range(5):
            reply = shim.ask(f"call-{number}", "tools/call", {"arguments": {"n": number, "text": "é\n"}, **extra})
            assert result(reply)["echo"] == {"n": number, "text": "é\n"}
        shim.close_input()
        assert shim.wait() == 0
        assert shim.rest() == []
        assert shim.noise() == b""


def test_the_engine_hears_who_asks(paths: Paths, tmp_path: Path) -> None:
    environment = {"CLAUDE_PROJECT_DIR": "/my/project", "CLAUDE_CODE_SESSION_ID": "session-1"}
    with (
        FakeEngine(paths) as engine,
        ShimProcess(paths, "--toolset", "recall", environment=environment, cwd=tmp_path) as shim,
    ):
        assert result(shim.ask(1, "who")) == {
            "cwd": str(tmp_path),
            "project_dir": "/my/project",
            "session_id": "session-1",
            "toolset": "recall",
            "pid": shim.process.pid,
            "ppid": os.getpid(),
        }
        assert engine.next_session().client.version


def test_it_rests_in_little_memory(paths: Paths, tmp_path: Path) -> None:
    # As an installation has it: with the byte code that pip, or the first start, leaves behind.
    compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(tmp_path)}
    with FakeEngine(paths):
        with ShimProcess(paths, environment=compiled) as first:
            open_session(first)
        with ShimProcess(paths, environment=compiled) as shim:
            open_session(shim)
            assert shim.ask(1, "tools/list")
            assert psutil.Process(shim.process.pid).memory_info().rss < MEMORY_LIMIT_BYTES


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
def test_a_large_message_costs_at_most_twice_its_size(paths: Paths) -> None:
    with FakeEngine(paths), ShimProcess(paths) as shim:
        size = 10_000_000
        assert shim.ask(0, "tools/list")
        at_rest = psutil.Process(shim.process.pid).memory_info().rss
        reply = shim.ask(1, "tools/other", {"arguments": {"body": "x" * size}})
        assert "Method not found" in error_text(reply)
        status = Path(f"/proc/{shim.process.pid}/status").read_text(encoding="utf-8")
        peak_kb = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
        assert peak_kb * 1024 - at_rest < 2 * size + 500_000  # and what pipes and sockets are read into


def test_a_session_survives_the_restart_of_the_engine(paths: Paths) -> None:
    with FakeEngine(paths, "1.0") as first, ShimProcess(paths, engine=FAILING_ENGINE) as shim:
        open_session(shim)
        first.withheld |= {"tools/call"}
        shim.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"arguments": {}}})
        first.next_message("tools/call")
        first.server.stop()
        assert error_text(shim.next()) == "Backscroll restarted while this call was running. Call again."
        shim.send({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"arguments": {"n": 2}}})
        with FakeEngine(paths, "1.0") as second:
            assert result(shim.next())["echo"] == {"n": 2}
            assert params_of(second.next_message("initialize")) == INITIALIZE
            shim.close_input()
            assert shim.wait() == 0
            assert shim.rest() == []


def test_it_starts_an_engine_and_answers_meanwhile(paths: Paths) -> None:
    write_catalogue(paths, "recall")
    with ShimProcess(paths, "--toolset=recall", engine=FAKE_ENGINE) as shim:
        assert open_session(shim)["serverInfo"] == {"name": "recall"}
        assert result(shim.ask(1, "tools/call", {"arguments": {"n": 1}}))["version"] == "started"
        engine = psutil.Process(cast("int", result(shim.ask(2, "tools/call", {}))["pid"]))
        assert os.getsid(engine.pid) == engine.pid, "an engine must outlive the session's terminal"
        shim.close_input()
        assert shim.wait() == 0
        engine.wait(WAIT_S)


def test_before_an_engine_ever_ran_here_lists_are_answered_from_what_ships(paths: Paths) -> None:
    with ShimProcess(paths, "--toolset=recall", engine=FAILING_ENGINE) as shim:
        assert open_session(shim)["instructions"]
        assert "hybrid_search" in json.dumps(result(shim.ask(1, "tools/list"))["tools"])
        assert result(shim.ask(2, "server/discover", ENVELOPE))["supportedVersions"] == ["2026-07-28"]
        shim.close_input()
        assert shim.wait() == 0


def test_the_first_engine_of_an_installation_takes_over_from_what_ships(paths: Paths) -> None:
    with ShimProcess(paths, engine=FAKE_ENGINE) as shim:
        assert open_session(shim)["instructions"]
        shim.send({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {}})
        assert {str(shim.next()["method"]) for _ in range(2)} == {
            "notifications/tools/list_changed",
            "notifications/prompts/list_changed",
        }
        engine = psutil.Process(cast("int", result(shim.next())["pid"]))
        shim.close_input()
        assert shim.wait() == 0
        engine.wait(WAIT_S)


def test_an_engine_that_cannot_start_leaves_each_call_with_one_error_and_the_session_alive(paths: Paths) -> None:
    write_catalogue(paths, "all")
    with ShimProcess(paths, engine=FAILING_ENGINE) as shim:
        open_session(shim)
        text = error_text(shim.ask(1, "tools/call", {"arguments": {}}))
        assert "exit code 3" in text
        assert "backscroll doctor" in text
        assert result(shim.ask(2, "tools/list"))["tools"] == [{"name": "all"}]
        with FakeEngine(paths, "started"):
            assert result(shim.ask(3, "tools/call", {"arguments": {}}))["version"] == "started"
            shim.close_input()
            assert shim.wait() == 0
            assert shim.rest() == []


def test_whatever_is_printed_in_the_process_stays_out_of_the_protocol(paths: Paths) -> None:
    code = (
        "import os, sys, threading; from engine import shim; "
        "before = shim.Relay.run; "
        "shim.Relay.run = lambda relay, source: ("
        "print('noise', flush=True), os.write(1, b'noise\\n'), os.system('echo noise'), before(relay, source))[-1]; "
        "sys.exit(shim.main([]))"
    )
    with FakeEngine(paths):
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n',
            capture_output=True,
            cwd=ROOT,
            env={**os.environ, "BACKSCROLL_HOME": str(paths.home)},
            timeout=WAIT_S,
            check=True,
        )
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1]
    assert done.stderr.count(b"noise") == 3


@pytest.mark.parametrize("line", [b"\xff\xfe\n", b"}{\n", b"[" * 100_000 + b"\n", b"\0\n", b'"text"\n'])
def test_no_line_makes_it_fall(paths: Paths, line: bytes) -> None:
    with FakeEngine(paths), ShimProcess(paths) as shim:
        shim.write(line)
        assert "error" in shim.next()
        assert result(shim.ask(1, "tools/list"))["version"] == "1.0"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
class TestSignals:
    @pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
    def test_a_signal_ends_it_at_once_and_quietly(self, paths: Paths, number: signal.Signals) -> None:
        with FakeEngine(paths) as engine, ShimProcess(paths) as shim:
            engine.withheld |= {"tools/call"}
            shim.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call"})
            engine.next_message("tools/call")
            shim.process.send_signal(number)
            assert shim.wait() == -number
            assert shim.rest() == []
            assert engine.last_gone.wait(WAIT_S)

    def test_a_parent_that_ignored_the_signal_does_not_make_it_deaf(self, paths: Paths) -> None:
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            shim = ShimProcess(paths, engine=FAILING_ENGINE)
        finally:
            signal.signal(signal.SIGHUP, before)
        with shim:
            assert result(shim.ask(1, "ping")) == {}
            shim.process.send_signal(signal.SIGHUP)
            assert shim.wait() == -signal.SIGHUP

    def test_it_ends_when_its_parent_is_killed_though_its_input_stays_open(self, paths: Paths) -> None:
        # The parent's end of stdin is ours as well, so the shim sees no end of its input.
        stdin, ours = os.pipe()
        code = (
            "import subprocess, sys, signal; "
            "child = subprocess.Popen([sys.executable, '-m', 'engine.shim'], stdin=int(sys.argv[1])); "
            "print(child.pid, flush=True); signal.pause()"
        )
        with FakeEngine(paths) as engine:
            parent = subprocess.Popen(
                [sys.executable, "-c", code, str(stdin)],
                pass_fds=[stdin],
                stdout=subprocess.PIPE,
                cwd=ROOT,
                env={**os.environ, "BACKSCROLL_HOME": str(paths.home)},
            )
            assert parent.stdout is not None
            shim = psutil.Process(int(parent.stdout.readline()))
            engine.next_session()
            parent.kill()
            parent.wait(WAIT_S)
            parent.stdout.close()
            psutil.wait_procs([shim], timeout=WAIT_S)
            assert not shim.is_running() or shim.status() == psutil.STATUS_ZOMBIE
            assert engine.last_gone.wait(WAIT_S)
        os.close(stdin)
        os.close(ours)
