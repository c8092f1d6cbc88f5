"""The frozen program `backscroll-mcp`: the shim and nothing else."""

from __future__ import annotations

import sys

from engine.shim import main

sys.exit(main())
