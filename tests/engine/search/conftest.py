"""A small history that every search test asks: three projects, several days, four languages, hostile text."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from engine.core.paths import Paths
from tests.helpers.engines import running_engine
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from engine.service import Engine

AUTH = "aaaaaaaa-0000-4000-8000-000000000001"
LINT = "bbbbbbbb-0000-4000-8000-000000000002"
SIDE = "aaaaaaaa-0000-4000-8000-000000000009"
TOKYO = "cccccccc-0000-4000-8000-000000000003"


def write_history(root: Path) -> None:
    auth = TranscriptBuilder(AUTH, cwd="/home/dev/api")
    auth.prompt("How should we store the refresh tokens for the auth rewrite?")
    auth.answer(
        {"type": "thinking", "thinking": "Tokens could live in sqlite-vec or a flock-protected file.", "signature": "x"}
    )
    auth.answer(
        "Store them hashed in SQLite. getUserName() stays, RefreshTokenStore is new; see src/auth/token_store.py:42."
    )
    auth.tool(
        "Bash",
        {"command": "pytest -k refresh --maxfail=1", "description": "Run the refresh tests"},
        "E0308: mismatched types\n1 failed",
        is_error=True,
    )
    auth.tool("Read", {"file_path": "/home/dev/api/src/auth/token_store.py"}, "class RefreshTokenStore:\n    pass")
    auth.tool("mcp__backscroll__keyword_search", {"query": "flock tokens"}, "old answer about flock tokens")
    auth.answer("Done: the configuration is running with NEAR(misses) and a:b, don't worry.")
    auth.record("ai-title", aiTitle="Auth rewrite: refresh tokens")
    auth.write(root)

    lint = TranscriptBuilder(LINT, cwd="/home/dev/web", now=datetime(2026, 3, 3, 8, 0, tzinfo=UTC))
    lint.prompt("The linter runs twice in CI. Universities in the fixture are wrong, too.")
    lint.answer("The café workflow calls eslint from two jobs. A naïve fix: remove one.")
    lint.tool("Bash", {"command": "npx eslint ."}, "ok " * 2000 + "needle_in_the_tail")
    lint.prompt("Try the flock approach 👍🏽 instead of tokens")
    lint.answer("Flock works. Tests run in 2 minutes.")
    lint.write(root)

    side = TranscriptBuilder(SIDE, cwd="/home/dev/api")
    side.prompt("Shall we write a changelog?")
    side.answer("Yes, by hand.")
    side.write(root)

    tokyo = TranscriptBuilder(TOKYO, cwd="/home/dev/日本", now=datetime(2026, 3, 3, 23, 30, tzinfo=UTC))
    tokyo.prompt("認証の書き直しについて、トークンはどこに保存しますか？")
    tokyo.answer("トークンはハッシュ化してSQLiteに保存します。데이터베이스 잠금은 필요 없습니다. 数据库已更新。")
    tokyo.write(root)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Give the engine over the history."""
    folder = tmp_path_factory.mktemp("search")
    root = folder / "projects"
    write_history(root)
    with running_engine(Paths.below(folder / "home"), root) as engine:
        yield engine
