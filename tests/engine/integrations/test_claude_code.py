from __future__ import annotations

import json
import os
import stat
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from engine.core.clock import FixedClock
from engine.core.errors import ConfigurationRefused, InvalidArgument
from engine.core.paths import Paths
from engine.integrations.claude_code import ClaudeCode
from engine.integrations.launch import ServerCommand

if TYPE_CHECKING:
    from pathlib import Path

posix_only = pytest.mark.skipif(os.name != "posix", reason="the stand-in for `claude` is a shell script")

HAND_WRITTEN = """{
  "numStartups": 7,
  "cost": 1.50,
  "mcpServers": {
    "other": {"command": "npx", "args": ["-y",  "thing"]}
  },
  "projects": {
    "/home/u/caf\\u00e9": {"mcpServers": {}}
  }
}
"""

SETTINGS = """{
  "model": "opus",
  "permissions": {
    "allow": [
      "Bash(ls:*)"
    ]
  }
}
"""

CLAUDE = """\
#!/bin/sh
exec "{python}" "{program}" "$@"
"""

PROGRAM = """\
import json, os, sys
home = os.environ.get("CLAUDE_CONFIG_DIR") or os.environ["HOME"]
file = os.path.join(home, ".claude.json")
with open({log!r}, "a", encoding="utf-8") as log:
    print(json.dumps([home, *sys.argv[1:]]), file=log)
document = json.load(open(file, encoding="utf-8")) if os.path.exists(file) else {{}}
servers = document.setdefault("mcpServers", {{}})
words = sys.argv[1:]
assert words[0] == "mcp" and words[2:4] == ["--scope", "user"], words
name, rest = words[4], words[5:]
if words[1] == "add":
    if {fails!r}:
        sys.exit("the policy of this machine forbids it")
    if name in servers:
        sys.exit("MCP server " + name + " already exists in user config")
    options, command = rest[: rest.index("--")], rest[rest.index("--") + 1 :]
    env = dict(option.split("=", 1) for option in options if option != "--env")
    servers[name] = {{"type": "stdio", "command": command[0], "args": command[1:], "env": env}}
elif servers.pop(name, None) is None:
    sys.exit("No MCP server named " + name + " in user scope")
if not {forgets!r}:
    json.dump(document, open(file, "w", encoding="utf-8"), indent=2)
"""


@dataclass
class Machine:
    """A home folder with a Claude Code in it."""

    home: Path
    paths: Paths
    env: dict[str, str]
    server: ServerCommand

    @property
    def config(self) -> Path:
        return self.home / ".claude.json"

    @property
    def settings(self) -> Path:
        return self.home / ".claude" / "settings.json"

    def claude(self, server: ServerCommand | None = None, seconds: float = 1_772_000_000) -> ClaudeCode:
        return ClaudeCode(
            server=server or self.server,
            paths=self.paths,
            env=self.env,
            home=self.home,
            cwd=self.home,
            clock=FixedClock(seconds),
        )

    def entry(self, file: Path | None = None) -> dict[str, Any]:
        return json.loads((file or self.config).read_text(encoding="utf-8"))["mcpServers"]["backscroll"]

    def install_program(self, *, fails: bool = False, forgets: bool = False) -> None:
        folder = self.home / "bin"
        folder.mkdir(exist_ok=True)
        program = folder / "program.py"
        program.write_text(PROGRAM.format(log=str(self.home / "calls"), fails=fails, forgets=forgets), encoding="utf-8")
        script = folder / "claude"
        script.write_text(CLAUDE.format(python=sys.executable, program=program), encoding="utf-8")
        script.chmod(0o755)
        self.env["PATH"] = f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin"

    def calls(self) -> list[list[str]]:
        log = self.home / "calls"
        lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        return [json.loads(line) for line in lines]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    home = tmp_path / "user"
    (home / ".claude").mkdir(parents=True)
    return Machine(
        home,
        Paths.below(tmp_path / "backscroll"),
        {"HOME": str(home), "PATH": ""},
        ServerCommand("/opt/bin/backscroll-mcp"),
    )


def test_without_the_program_one_key_is_written_and_every_other_byte_kept(machine: Machine) -> None:
    machine.config.write_text(HAND_WRITTEN, encoding="utf-8")
    outcome = machine.claude().connect()
    added = machine.config.read_text(encoding="utf-8")
    ours = added[added.index(',\n    "backscroll"') : added.index("\n  },\n")]
    assert added.replace(ours, "") == HAND_WRITTEN
    assert machine.entry() == {"type": "stdio", "command": "/opt/bin/backscroll-mcp", "args": [], "env": {}}
    assert [change.file for change in outcome.changes] == [machine.config]
    assert "restart" in outcome.notes[-1]
    assert machine.claude().connection().state == "connected"


def test_connecting_twice_does_nothing_the_second_time(machine: Machine) -> None:
    machine.config.write_text(HAND_WRITTEN, encoding="utf-8")
    machine.claude().connect()
    before = machine.config.stat().st_mtime_ns
    outcome = machine.claude().connect()
    assert outcome.changes == outcome.notes == ()
    assert machine.config.stat().st_mtime_ns == before


def test_removing_gives_the_old_bytes_back(machine: Machine) -> None:
    machine.config.write_text(HAND_WRITTEN, encoding="utf-8")
    machine.settings.write_text(SETTINGS, encoding="utf-8")
    machine.claude().connect()
    machine.claude().allow(("hybrid_search", "get_context"))
    machine.claude().keep_transcripts(365)
    assert "mcp__backscroll__get_context" in machine.settings.read_text(encoding="utf-8")
    machine.claude().disconnect()
    assert machine.config.read_text(encoding="utf-8") == HAND_WRITTEN
    assert machine.settings.read_text(encoding="utf-8") == SETTINGS


def test_files_that_were_made_are_gone_after_removing(machine: Machine) -> None:
    machine.claude().connect()
    machine.claude().allow(("hybrid_search",))
    assert machine.config.exists()
    assert machine.settings.exists()
    machine.claude().disconnect()
    assert not machine.config.exists()
    assert not machine.settings.exists()


def test_what_the_person_added_beside_ours_stays(machine: Machine) -> None:
    machine.claude().allow(("hybrid_search",))
    settings = json.loads(machine.settings.read_text(encoding="utf-8"))
    settings["permissions"]["allow"].append("Bash(git:*)")
    machine.settings.write_text(json.dumps(settings), encoding="utf-8")
    machine.claude().disconnect()
    assert json.loads(machine.settings.read_text(encoding="utf-8")) == {"permissions": {"allow": ["Bash(git:*)"]}}


def test_a_rule_the_person_had_already_is_not_taken_out(machine: Machine) -> None:
    machine.settings.write_text('{"permissions": {"allow": ["mcp__backscroll__status"]}}', encoding="utf-8")
    outcome = machine.claude().allow(("status", "coverage"))
    assert "mcp__backscroll__status" not in outcome.changes[0].what
    machine.claude().disconnect()
    assert json.loads(machine.settings.read_text(encoding="utf-8")) == {
        "permissions": {"allow": ["mcp__backscroll__status"]}
    }


def test_a_rule_for_the_whole_server_covers_ours(machine: Machine) -> None:
    machine.settings.write_text('{"permissions": {"allow": ["mcp__backscroll"]}}', encoding="utf-8")
    assert machine.claude().allow(("status",)).changes == ()


def test_another_path_is_replaced_and_the_state_says_so_before(machine: Machine) -> None:
    machine.claude(ServerCommand("/old/backscroll-mcp")).connect()
    connection = machine.claude().connection()
    assert connection.state == "other_path"
    assert connection.registrations[0].command == "/old/backscroll-mcp"
    machine.claude().connect()
    assert machine.entry()["command"] == "/opt/bin/backscroll-mcp"


def test_another_home_counts_as_another_path(machine: Machine) -> None:
    machine.claude().connect()
    server = replace(machine.server, env=(("BACKSCROLL_HOME", "/data/b"),))
    assert machine.claude(server).connection().state == "other_path"
    machine.claude(server).connect()
    assert machine.entry()["env"] == {"BACKSCROLL_HOME": "/data/b"}


def test_an_entry_that_was_not_added_here_is_left_on_removal(machine: Machine) -> None:
    text = '{"mcpServers": {"backscroll": {"command": "/somebody/elses"}}}'
    machine.config.write_text(text, encoding="utf-8")
    outcome = machine.claude().disconnect()
    assert outcome.changes == ()
    assert "/somebody/elses" in outcome.notes[0]
    assert machine.config.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("text", ['{"a": 1,}', "{", "[]", '{"mcpServers": []}', '{"a": 1} // note', "\xff"])
def test_a_file_that_cannot_be_parsed_is_refused_and_left(machine: Machine, text: str) -> None:
    machine.config.write_bytes(text.encode("latin-1"))
    assert machine.claude().connection().state == "unreadable"
    with pytest.raises(ConfigurationRefused, match="left as it is"):
        machine.claude().connect()
    with pytest.raises(ConfigurationRefused, match="left as it is"):
        machine.claude().disconnect()
    assert machine.config.read_bytes() == text.encode("latin-1")
    assert sorted(each.name for each in machine.home.iterdir()) == [".claude", ".claude.json"]


def test_an_empty_file_is_taken_as_an_empty_configuration(machine: Machine) -> None:
    machine.config.touch()
    machine.claude().connect()
    assert machine.entry()["command"] == "/opt/bin/backscroll-mcp"


@posix_only
def test_a_linked_file_stays_a_link_and_keeps_its_mode(machine: Machine) -> None:
    real = machine.home / "dotfiles.json"
    real.write_text(HAND_WRITTEN, encoding="utf-8")
    real.chmod(0o640)
    machine.config.symlink_to(real)
    machine.claude().connect()
    assert machine.config.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert machine.entry(real)["command"] == "/opt/bin/backscroll-mcp"


@posix_only
def test_a_dated_copy_with_the_same_mode_is_kept(machine: Machine) -> None:
    machine.config.write_text(HAND_WRITTEN, encoding="utf-8")
    machine.config.chmod(0o600)
    machine.claude().connect()
    copy = machine.home / ".claude.json.before-backscroll-20260225T061320Z"
    assert copy.read_text(encoding="utf-8") == HAND_WRITTEN
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600


def test_only_the_newest_copies_stay(machine: Machine) -> None:
    machine.config.write_text(HAND_WRITTEN, encoding="utf-8")
    for day in range(8):
        claude = machine.claude(seconds=1_772_000_000 + day * 86_400)
        claude.connect() if day % 2 == 0 else claude.disconnect()
    copies = sorted(machine.home.glob(".claude.json.before-backscroll-*"))
    assert len(copies) == 5
    assert copies[-1].name.endswith("20260304T061320Z")


def test_a_dry_run_writes_nothing_and_says_what_it_would(machine: Machine) -> None:
    outcome = machine.claude().connect(dry_run=True)
    assert outcome.dry_run
    assert outcome.changes[0].file == machine.config
    assert not machine.config.exists()
    assert not machine.paths.state.exists()


def test_every_configured_folder_gets_the_entry(machine: Machine, tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    machine.env["CLAUDE_CONFIG_DIR"] = f"{first}{os.pathsep}{second}/projects,{first}"
    machine.claude().connect()
    machine.claude().allow(("status",))
    assert machine.entry(first / ".claude.json") == machine.entry(second / ".claude.json")
    assert (second / "settings.json").exists()
    assert not machine.config.exists()
    assert machine.claude().connection().state == "connected"


def test_removing_reaches_a_folder_that_is_no_longer_configured(machine: Machine, tmp_path: Path) -> None:
    machine.env["CLAUDE_CONFIG_DIR"] = str(tmp_path / "a")
    machine.claude().connect()
    del machine.env["CLAUDE_CONFIG_DIR"]
    machine.claude().disconnect()
    assert not (tmp_path / "a" / ".claude.json").exists()


def test_narrower_entries_are_reported(machine: Machine) -> None:
    machine.config.write_text(
        json.dumps({"projects": {"/w/api": {"mcpServers": {"backscroll": {"command": "/local/one"}}}, "/w/b": 3}}),
        encoding="utf-8",
    )
    (machine.home / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"backscroll": {"command": "uvx", "args": ["backscroll"]}}}), encoding="utf-8"
    )
    narrower = machine.claude().connection().narrower
    assert [(each.scope, str(each.where), each.command) for each in narrower] == [
        ("local", "/w/api", "/local/one"),
        ("project", str(machine.home / ".mcp.json"), "uvx backscroll"),
    ]
    assert "/local/one" in machine.claude().connect().notes[0]


def test_a_broken_project_file_hides_nothing_and_stops_nothing(machine: Machine) -> None:
    (machine.home / ".mcp.json").write_text("{", encoding="utf-8")
    assert machine.claude().connection().narrower == ()


def test_a_change_made_meanwhile_is_kept(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.config.write_text(HAND_WRITTEN, encoding="utf-8")
    from engine.integrations import claude_files

    real = claude_files.keep_copy
    interruptions = [HAND_WRITTEN.replace("7", "8")]

    def interrupted(file: Path, clock: FixedClock) -> None:
        real(file, clock)
        if interruptions:
            file.write_text(interruptions.pop() + " ", encoding="utf-8")

    monkeypatch.setattr(claude_files, "keep_copy", interrupted)
    machine.claude().connect()
    document = json.loads(machine.config.read_text(encoding="utf-8"))
    assert document["numStartups"] == 8
    assert "backscroll" in document["mcpServers"]


def test_a_file_that_never_stands_still_is_left(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.config.write_text(HAND_WRITTEN, encoding="utf-8")
    from engine.integrations import claude_files

    def interrupted(file: Path, _clock: FixedClock) -> None:
        file.write_text(file.read_text(encoding="utf-8") + " ", encoding="utf-8")

    monkeypatch.setattr(claude_files, "keep_copy", interrupted)
    with pytest.raises(ConfigurationRefused, match="Try again"):
        machine.claude().connect()
    assert machine.config.read_text(encoding="utf-8").strip() == HAND_WRITTEN.strip()


def test_retention_is_raised_never_lowered_and_set_back(machine: Machine) -> None:
    machine.settings.write_text('{\n  "cleanupPeriodDays": 90\n}\n', encoding="utf-8")
    assert machine.claude().keep_transcripts(60).changes == ()
    machine.claude().keep_transcripts(365)
    machine.claude().keep_transcripts(3650)
    assert machine.claude().connection().registrations[0].retention_days == 3650
    machine.claude().disconnect()
    assert machine.settings.read_text(encoding="utf-8") == '{\n  "cleanupPeriodDays": 90\n}\n'
    with pytest.raises(InvalidArgument):
        machine.claude().keep_transcripts(0)


def test_a_retention_the_person_changed_afterwards_stays(machine: Machine) -> None:
    machine.claude().keep_transcripts(365)
    machine.settings.write_text('{"cleanupPeriodDays": 400}', encoding="utf-8")
    assert machine.claude().disconnect().changes == ()
    assert machine.settings.read_text(encoding="utf-8") == '{"cleanupPeriodDays": 400}'


def test_a_damaged_memory_leaves_everything_but_our_own_entry(machine: Machine) -> None:
    machine.claude().connect()
    machine.claude().allow(("status",))
    (machine.paths.state / "claude-code.json").write_text("[1]", encoding="utf-8")
    machine.claude().disconnect()
    assert "backscroll" not in machine.config.read_text(encoding="utf-8")
    assert "mcp__backscroll__status" in machine.settings.read_text(encoding="utf-8")


@posix_only
def test_with_the_program_the_contracted_command_is_run(machine: Machine) -> None:
    machine.install_program()
    outcome = machine.claude().connect()
    words = ["mcp", "add", "--scope", "user", "backscroll", "--", "/opt/bin/backscroll-mcp"]
    assert machine.calls() == [[str(machine.home), *words]]
    assert outcome.changes[0].command == ("claude", *words)
    assert machine.claude().connection().state == "connected"
    machine.claude().connect()
    assert len(machine.calls()) == 1
    machine.claude().disconnect()
    assert machine.calls()[1][1:] == ["mcp", "remove", "--scope", "user", "backscroll"]
    assert machine.claude().connection().state == "not_connected"


@posix_only
def test_the_home_is_passed_after_the_name(machine: Machine) -> None:
    machine.install_program()
    server = ServerCommand("/opt/a b/backscroll", ("mcp",), (("BACKSCROLL_HOME", "/data/b c"),))
    machine.claude(server).connect()
    assert machine.entry() == {
        "type": "stdio",
        "command": "/opt/a b/backscroll",
        "args": ["mcp"],
        "env": {"BACKSCROLL_HOME": "/data/b c"},
    }
    assert machine.claude(server).connection().state == "connected"


@posix_only
def test_an_old_entry_is_removed_first(machine: Machine) -> None:
    machine.install_program()
    machine.claude(ServerCommand("/old/backscroll-mcp")).connect()
    machine.claude().connect()
    assert [call[2] for call in machine.calls()] == ["add", "remove", "add"]
    assert machine.entry()["command"] == "/opt/bin/backscroll-mcp"


@posix_only
def test_the_old_entry_comes_back_when_adding_fails(machine: Machine) -> None:
    old = {"type": "stdio", "command": "/old/backscroll-mcp", "args": ["--x"], "env": {"A": "b"}, "timeout": 5}
    machine.config.write_text(json.dumps({"mcpServers": {"backscroll": old}, "a": 1}, indent=2), encoding="utf-8")
    machine.install_program(fails=True)
    with pytest.raises(ConfigurationRefused, match="the policy of this machine forbids it"):
        machine.claude().connect()
    assert machine.entry() == old


@posix_only
def test_a_program_that_says_it_is_done_and_is_not_is_not_believed(machine: Machine) -> None:
    machine.install_program(forgets=True)
    planned = machine.claude().connect(dry_run=True)
    assert not any("is not in" in note for note in planned.notes)
    outcome = machine.claude().connect()
    assert [str(machine.config) in note for note in outcome.notes if "is not in" in note] == [True]


@posix_only
def test_each_configured_folder_is_told_to_the_program(machine: Machine, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    machine.env["CLAUDE_CONFIG_DIR"] = f"{tmp_path / 'a'},{tmp_path / 'b'}"
    machine.install_program()
    machine.claude().connect()
    assert [call[0] for call in machine.calls()] == [str(tmp_path / "a"), str(tmp_path / "b")]


@posix_only
def test_the_program_is_not_run_on_a_file_it_would_reset(machine: Machine) -> None:
    machine.install_program()
    machine.config.write_text("{", encoding="utf-8")
    with pytest.raises(ConfigurationRefused):
        machine.claude().connect()
    assert machine.calls() == []


@posix_only
def test_a_program_outside_path_is_found_where_installers_put_it(machine: Machine) -> None:
    machine.install_program()
    usual = machine.home / ".local" / "bin"
    usual.mkdir(parents=True)
    (machine.home / "bin" / "claude").rename(usual / "claude")
    machine.env["PATH"] = "/usr/bin"
    assert machine.claude().connection().program == usual / "claude"
