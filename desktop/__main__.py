"""`python -m desktop`: the same as `backscroll run`, with its options."""

from __future__ import annotations

import sys

from engine.cli.app import main

if __name__ == "__main__":
    sys.exit(main(["run", *sys.argv[1:]]))
