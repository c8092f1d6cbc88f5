"""The front door: one typed method for each thing that can be asked. No SQL, no threads.

The desktop calls the methods of `EngineApi`; the command line and Claude Code come through `ask` and `call`, whose
names and arguments are the contract of `engine/arguments`. Both get the same values.
"""

from engine.api.control import EngineControl, Work
from engine.api.front import EngineApi

__all__ = ["EngineApi", "EngineControl", "Work"]
