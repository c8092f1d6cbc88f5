"""`backscroll status`: what the engine is doing, and where everything lies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer  # noqa: TC002 - typer reads the annotation at run time
from rich.table import Table
from rich.text import Text

from engine.cli import options, words
from engine.cli.access import ask
from engine.cli.output import Output
from engine.cli.safe import one_line
from engine.cli.wording import as_commands
from engine.core.sizes import size

if TYPE_CHECKING:
    from collections.abc import Iterator


def status(ctx: typer.Context, *, as_json: options.AsJson = False) -> None:
    """Show what the engine is doing."""
    output = Output(as_json=as_json)
    reply = ask(ctx, output, "status", {})
    if as_json:
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(style="faint", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in _rows(reply):
        table.add_row(name, value)
    output.show(table)
    for warning in reply["warnings"]:
        output.say(one_line(warning["text"]), "note")
        if warning.get("hint"):
            output.say("  " + one_line(warning["hint"]))
    if reply.get("note"):
        output.say(as_commands(reply["note"]), "note")


def _rows(reply: dict[str, Any]) -> Iterator[tuple[str, str | Text]]:
    engine = reply["engine"]
    running = engine.get("pid") is not None
    state = Text(str(engine["state"]), style="good" if engine["state"] == "running" else "note")
    if running:
        state.append(f"  pid {engine['pid']}, up {words.duration(engine.get('uptime_s'))}", "faint")
    yield "Engine", state
    yield "Version", str(engine["version"])
    yield "Indexing", _ingest(reply["ingest"])
    yield "By meaning", _embedding(reply["embedding"])
    yield "History", f"{words.count(reply['sessions'], 'session')}, {words.count(reply['messages'], 'message')}"
    yield "Database", size(reply["database_bytes"])
    yield "Archive", size(reply["archive_bytes"])
    yield "Clients", str(reply["clients"])
    job = reply.get("job")
    if job:
        yield "Job", f"{job['kind']}: {job['state']}, {job['done']:,} of {job['total']:,}"
    if reply.get("redacted"):
        total = sum(reply["redacted"].values())
        yield "Redacted", f"{words.count(total, 'secret')} before they entered the index"
    for name, path in reply["paths"].items():
        yield name.replace("_", " ").capitalize(), Text(one_line(path), style="place")


def _ingest(ingest: dict[str, Any]) -> str:
    said = str(ingest["state"])
    if ingest.get("paused_until"):
        said += f" until {words.moment(ingest['paused_until'])}"
    if ingest["files_pending"]:
        said += f", {words.count(ingest['files_pending'], 'file')} ({size(ingest['bytes_pending'])}) to go"
    if ingest.get("rate"):
        said += f", {size(ingest['rate'])}/s"
    if ingest.get("eta_s") is not None:
        said += f", {words.duration(ingest['eta_s'])} left"
    if ingest.get("last_at"):
        said += f", last {words.moment(ingest['last_at'])}"
    return said


def _embedding(embedding: dict[str, Any]) -> str:
    said = str(embedding["state"])
    if embedding["backlog"]:
        said += f", {words.count(embedding['backlog'], 'chunk')} to go"
    if embedding.get("rate"):
        said += f", {embedding['rate']:.0f}/s"
    if embedding.get("eta_s") is not None:
        said += f", {words.duration(embedding['eta_s'])} left"
    if embedding.get("reason"):
        said += f" ({one_line(embedding['reason'])})"
    return said
