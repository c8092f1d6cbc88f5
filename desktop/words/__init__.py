"""Every visible string of the desktop, a module a window, ready for translation. Functions where a number decides.

Words for things are those of the README: session, message, hit, project, coverage, backlog. A string that windows of
several kinds show stands in `shared`; one window's strings stand in the module of its name.
"""

from __future__ import annotations

from desktop.words import (
    about,
    actions,
    amounts,
    claude,
    doctor,
    engine,
    first_run,
    hotkey,
    knowledge,
    menu,
    prune,
    search,
    settings,
    shared,
    status,
    tray,
    trouble,
    usage,
)

__all__ = [
    "about",
    "actions",
    "amounts",
    "claude",
    "doctor",
    "engine",
    "first_run",
    "hotkey",
    "knowledge",
    "menu",
    "prune",
    "search",
    "settings",
    "shared",
    "status",
    "tray",
    "trouble",
    "usage",
]
