"""Knowledge through the bundled shim."""

from tests.integration.test_knowledge_through_the_shim import *  # noqa: F403 - the same tests, run with other programs
