"""The bundled program as the engine's second process."""

from tests.integration.test_second_process import *  # noqa: F403 - the same tests, run with other programs
