"""The front door of a database that is only read, for a question while no engine runs."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.core.zone import zone_of
from engine.safekeeping import Safekeeping
from engine.store.connection import ReaderPool

if TYPE_CHECKING:
    from collections.abc import Generator

    from engine.api import EngineApi
    from engine.core.clock import Clock
    from engine.core.paths import Paths
    from engine.core.settings import Settings


@contextmanager
def open_reader(paths: Paths, settings: Settings, clock: Clock) -> Generator[EngineApi]:
    """Open the database read-only.

    Raises:
        StoreMissing: There is no database yet.
        StorageFailure: It cannot be read.
    """
    from engine.api import EngineApi  # noqa: PLC0415 - indexing once can do without it

    readers = ReaderPool(paths.database)
    zone = zone_of(settings.time_zone)
    keeper = Safekeeping(
        paths,
        settings,
        clock,
        zone,
        readers=readers,
        writer=None,
        roots=lambda: (),
        is_excluded=None,
        is_reading=lambda: False,
    )
    api = EngineApi(readers, paths=paths, settings=settings, zone=zone, clock=clock, control=None, keeper=keeper)
    try:
        yield api
    finally:
        api.close()
        readers.close()
