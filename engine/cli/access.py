"""How a verb reaches the history: through the running engine, else by itself.

Without an engine a read opens the database read-only in this process; a write starts an engine for its duration.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, cast

from engine import __version__
from engine.cli.output import Output
from engine.core.clock import SystemClock
from engine.core.errors import EngineNotRunning

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from contextlib import AbstractContextManager

    import typer

    from engine.api import EngineApi
    from engine.core.paths import Paths
    from engine.core.settings import Settings
    from engine.ingest.progress import IngestProgress
    from engine.ipc.client import EngineClient
    from engine.ipc.protocol import JsonObject
    from engine.service import Engine

    OnProgress = Callable[[float, float | None, str], None]
    OnIngest = Callable[[IngestProgress], None]


class Front(Protocol):
    """The front door, wherever it is."""

    def call(self, method: str, arguments: dict[str, Any], *, on_progress: OnProgress | None = None) -> dict[str, Any]:
        """Return the reply of one operation.

        Args:
            method: The operation's name, which is also the MCP tool's.
            arguments: By name; checked by the engine.
            on_progress: Told done, total (none when it is not known) and what is being done.

        Raises:
            EngineError: Why there is no reply.
        """
        ...

    def finish(self, on_ingest: OnIngest) -> None:
        """Wait for work that was queued where it would end with this process. A running engine needs no waiting."""
        ...


class Access(Protocol):
    """Where verbs get their front door from, and which installation that is."""

    @property
    def paths(self) -> Paths:
        """The installation."""
        ...

    def front(self, *, writes: bool = False) -> AbstractContextManager[Front]:
        """Open the front door for a read or a write.

        Raises:
            EngineError: There is no engine and no database, or one of them refuses.
        """
        ...

    def running(self) -> AbstractContextManager[Front]:
        """Open the front door of the running engine, for what makes no sense without one.

        Raises:
            EngineNotRunning: There is none; the hint says how to start one.
        """
        ...


class InstalledAccess:
    """The access of a real installation."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths

    @property
    def paths(self) -> Paths:
        """The installation."""
        return self._paths

    @contextmanager
    def front(self, *, writes: bool = False) -> Generator[Front]:
        """Open the front door: the running engine's, else our own."""
        try:
            client = self._connect()
        except EngineNotRunning:
            client = None
        if client is None:  # out of the handler: whatever goes wrong below has another cause
            with self._engine() if writes else self._reader() as front:
                yield front
            return
        with client:
            yield _Remote(client)

    @contextmanager
    def running(self) -> Generator[Front]:
        """Open the running engine's front door."""
        with self._connect() as client:
            yield _Remote(client)

    def _connect(self) -> EngineClient:
        from engine.ipc.client import EngineClient  # noqa: PLC0415 - `--help` and `connect` need no connection

        return EngineClient.connect(self._paths, version=__version__)

    @contextmanager
    def _reader(self) -> Generator[Front]:
        from engine.service import open_reader  # noqa: PLC0415 - opens SQLite, which a client does not need

        with open_reader(self._paths, self._settings(), SystemClock()) as api:
            yield _Local(api)

    @contextmanager
    def _engine(self) -> Generator[Front]:
        from engine.cli.foreground import refused_by_disk  # noqa: PLC0415 - as above
        from engine.service import Engine  # noqa: PLC0415 - as above

        engine = Engine(self._paths, self._settings(), SystemClock())
        try:
            engine.start(watch=False)
        except OSError as error:
            raise refused_by_disk(error, engine) from error
        try:
            yield _Local(engine.api, engine)
        finally:
            engine.stop()

    def _settings(self) -> Settings:
        return settings_of(self._paths, Output())


class _Remote:
    """The front door of the running engine."""

    def __init__(self, client: EngineClient) -> None:
        self._client = client

    def call(self, method: str, arguments: dict[str, Any], *, on_progress: OnProgress | None = None) -> dict[str, Any]:
        reply = self._client.call(method, cast("JsonObject", arguments), on_progress=on_progress)
        return cast("dict[str, Any]", reply)

    def finish(self, on_ingest: OnIngest) -> None:
        pass


class _Local:
    """The front door of this process."""

    def __init__(self, api: EngineApi, engine: Engine | None = None) -> None:
        self._api = api
        self._engine = engine

    def call(self, method: str, arguments: dict[str, Any], *, on_progress: OnProgress | None = None) -> dict[str, Any]:
        # 60 ms together, that a client of a running engine need not pay.
        from engine.core.models.asking import Caller  # noqa: PLC0415 - see above

        caller = Caller(cwd=_working_directory())
        return self._api.ask(method, arguments, caller=caller, progress=on_progress)

    def finish(self, on_ingest: OnIngest) -> None:
        if self._engine is not None:
            self._engine.run_once(until="keyword", on_progress=on_ingest)


def settings_of(paths: Paths, output: Output) -> Settings:
    """Return the person's settings, after saying what is wrong with them: a file moved aside is not found again."""
    from engine.core.settings import load_settings  # noqa: PLC0415 - 9 ms that a client need not pay

    loaded = load_settings(paths.settings_file)
    for problem in loaded.problems:
        output.say(problem.what, "note")
    return loaded.settings


def access_of(ctx: typer.Context) -> Access:
    """Return the access that the program was started with."""
    return cast("Access", ctx.obj)


def ask(ctx: typer.Context, output: Output, method: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the reply of one read; with `--json` it has been written already."""
    with access_of(ctx).front() as front:
        reply = front.call(method, arguments)
    if output.as_json:
        output.json(reply)
    return reply


def _working_directory() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109 - a text for the wire
    except FileNotFoundError:
        return None
