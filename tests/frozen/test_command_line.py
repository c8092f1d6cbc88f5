"""The bundled command line."""

from tests.integration.test_command_line import *  # noqa: F403 - the same tests, run with other programs
