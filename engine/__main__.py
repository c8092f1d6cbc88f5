"""The program `backscroll`, also as `python -m engine`."""

from __future__ import annotations

import gc
import sys

COLLECT_AFTER = 10_000
"""New objects until Python looks for circles among the young ones; the messages that are read make none. At Python's
own 700 a start and a backfill of 84 MB spent 0.12 s of 1.55 s on looking, now 0.06 s in the same memory."""


def main() -> int:
    """Run the command line and return its exit code.

    The shim branches off first: Claude Code starts one for each session, and the command line's imports would cost each
    of them 20 MB and a tenth of a second.
    """
    if sys.argv[1:2] == ["mcp"] and not {"-h", "--help"} & set(sys.argv):
        from engine.shim import main as relay  # noqa: PLC0415 - see above

        return relay(sys.argv[2:])
    if sys.argv[1:2] == ["embed-worker"]:  # how the frozen program starts its own worker (engine/embed/client.py)
        from engine.embed.worker import main as embed  # noqa: PLC0415 - see above

        return embed(sys.argv[2:])
    if sys.argv[1:2] == ["record-catalogue"]:  # as above, for what the shim answers (engine/mcp/recorder.py)
        from engine.mcp.shim_catalogue import main as record  # noqa: PLC0415 - see above

        return record(sys.argv[2:])
    if sys.argv[1:2] == ["prepare-texts"]:  # as above, for a long history's texts (engine/ingest/second_process.py)
        from engine.ingest.prepare import main as prepare  # noqa: PLC0415 - see above

        return prepare()
    # While that is imported there is nothing to tidy: Ctrl+C ends the process at once. Python's way is an exception,
    # and one that comes inside the import system may be dropped there.
    import signal  # noqa: PLC0415 - the shim takes the signals itself

    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.set_threshold(COLLECT_AFTER, *gc.get_threshold()[1:])
    from engine.cli.app import main as command_line  # noqa: PLC0415 - see above

    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, before)
    return command_line(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
