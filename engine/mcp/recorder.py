"""Keeps the shim's catalogue files in step with this engine, without loading the MCP toolkit here.

What the files say follows from the engine's version and its tables. Where they are of another one, a child process
makes them anew (`shim_catalogue`), because the toolkit would stay in this one for as long as it runs.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import subprocess
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import engine
from engine.arguments import OPERATIONS
from engine.ipc.protocol import TOOLSETS
from engine.knowledge.tools import OPERATIONS as KNOWLEDGE
from engine.mcp.catalogue import Catalogue

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.core.paths import Paths
    from engine.ipc.protocol import Toolset

logger = logging.getLogger(__name__)

DELAY_S: Final = 5.0
"""After the start: the icon and the newest session come first. Who connects meanwhile is served by the engine."""

FROZEN_VERB: Final = "record-catalogue"
"""First argument by which the frozen program knows that it is to write the files."""

KEY: Final = "made_from"
"""Of the file: what it was made from."""


def whole_catalogue() -> Catalogue:
    """Return what an engine shows: everything its front door can do."""
    return Catalogue((*OPERATIONS, *KNOWLEDGE))


def made_from(catalogue: Catalogue, toolset: Toolset) -> str:
    """Return a mark of everything the file of a toolset follows from."""
    prompts = [asdict(each) for each in catalogue.prompts(toolset).values()]
    parts = [engine.__version__, catalogue.instructions(toolset), catalogue.wire(toolset), prompts]
    return hashlib.sha256(json.dumps(parts, default=str).encode("utf-8")).hexdigest()[:16]


def command(files: Sequence[Path]) -> list[str]:
    """Return the command that writes the files, in the order of `TOOLSETS`; from source, installed or frozen."""
    places = [str(file) for file in files]
    if getattr(sys, "frozen", False):
        return [sys.executable, FROZEN_VERB, *places]
    return [sys.executable, "-P", "-m", "engine.mcp.shim_catalogue", *places]


class CatalogueRecorder:
    """Looks once, a while after the start, whether the files are this engine's, and has them written.

    Args:
        paths: The installation; its state folder exists.
        delay_s: Seconds before it looks.
        write: Returns the command that writes the files.
    """

    def __init__(
        self, paths: Paths, *, delay_s: float = DELAY_S, write: Callable[[Sequence[Path]], list[str]] = command
    ) -> None:
        self._write = write
        self._files = [paths.catalogue_file(toolset) for toolset in TOOLSETS]
        self._delay_s = delay_s
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="engine-catalogue", daemon=True)

    def start(self) -> None:
        """Begin to wait. Once."""
        self._thread.start()

    def stop(self, timeout_s: float = 5.0) -> bool:
        """End it, a child that writes included. False when it is late."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def are_current(self) -> bool:
        """Return whether every file was made from what this engine is."""
        catalogue = whole_catalogue()
        return all(
            _mark_of(file) == made_from(catalogue, toolset) for toolset, file in zip(TOOLSETS, self._files, strict=True)
        )

    def _run(self) -> None:
        if self._stopping.wait(self._delay_s) or self.are_current():
            return
        try:
            process = subprocess.Popen(
                self._write(self._files),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=_environment(),
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError as error:
            logger.warning("The shim's catalogue could not be written (%s)", type(error).__name__)
            return
        while process.poll() is None:
            if self._stopping.wait(0.1):
                process.kill()
                process.wait()
                return
        if process.returncode:
            logger.warning("Writing the shim's catalogue ended with code %d", process.returncode)


def _environment() -> dict[str, str]:
    source = str(Path(engine.__file__).parents[1])
    found = dict(os.environ)
    found["PYTHONPATH"] = os.pathsep.join(filter(None, (source, found.get("PYTHONPATH", ""))))
    return found


def _mark_of(file: Path) -> str | None:
    try:
        content = cast("object", json.loads(file.read_bytes()))
    except (OSError, ValueError):
        return None
    mark = cast("dict[str, Any]", content).get(KEY) if isinstance(content, dict) else None
    return mark if isinstance(mark, str) else None
