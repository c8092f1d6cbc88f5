"""The composition root: builds the engine's rooms, starts them in order and stops them in reverse.

`engine` is the life of one data directory, `door` what lets other programs in, `roots` where transcripts lie,
`indexing` what reading is doing, `notices` what the person should know, `reader` the front door of a database that is
only read.
"""

from engine.service.engine import Engine, EngineState
from engine.service.reader import open_reader

__all__ = ["Engine", "EngineState", "open_reader"]
