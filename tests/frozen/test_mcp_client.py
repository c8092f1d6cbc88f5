"""The official client and the bundled shim."""

from tests.integration.test_mcp_client import *  # noqa: F403 - the same tests, run with other programs
