"""The bundled shim as Claude Code meets it."""

from tests.integration.test_shim_process import *  # noqa: F403 - the same tests, run with other programs
