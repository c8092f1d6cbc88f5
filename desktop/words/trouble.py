"""What the window of an error says when the error is a defect of the program."""

from __future__ import annotations

from typing import Final

BUG_TITLE: Final = "Something went wrong inside Backscroll"
BUG_MESSAGE: Final = "This is a defect of the program. Your history is not harmed."
BUG_HINT: Final = "The log has the details; you can also copy them here."
COPY_DETAILS: Final = "Copy details"
NOT_THERE_YET: Final = "This is not there yet in this version."
