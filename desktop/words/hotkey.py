"""Why a hotkey could not be claimed, and what can be done about it."""

from __future__ import annotations

from typing import Final

EXAMPLE: Final = "Try Ctrl+Shift+Space, Ctrl+Alt+S or F9."
OTHER: Final = "Choose other keys in the settings: Ctrl+Alt+S, for example."
TAKEN: Final = "Another program uses these keys."
NONE: Final = "No program can claim a key on this desktop"
NO_DISPLAY: Final = "There is no display server that gives keys to programs."
NO_LIBRARY: Final = "The libraries libxcb and libxcb-keysyms are missing"
TOGGLE: Final = "Bind the command `backscroll toggle` to a key in your desktop's own keyboard settings."
NO_PORTAL: Final = "This desktop does not offer global shortcuts to programs."
DENIED: Final = "The desktop did not give Backscroll these keys."
DESCRIPTION: Final = "Show or hide the search window"


def not_keys(text: str) -> str:
    return f"“{text}” names no keys"


def too_plain(text: str) -> str:
    return f"“{text}” would get in the way of typing"


def no_such_key(text: str) -> str:
    return f"This keyboard has no {text}"


def refused(text: str) -> str:
    return f"{text} could not be claimed"


def x_error(code: int) -> str:
    return f"The system answered with error {code}."
