from __future__ import annotations

import pytest

from engine.cli.wording import as_commands


@pytest.mark.parametrize(
    ("engine", "person"),
    [
        ("list_sessions without `project` shows all.", "`backscroll sessions` without `--project` shows all."),
        ("`knowledge_chronicle_last_seen` tells.", "`backscroll knowledge last-seen` tells."),
        ('Call again with "limit": 10.', "Call again with --limit 10."),
        (
            'Call again with "date_from": "2026-03-01" (the whole day) or "2026-03-01T14:30:00".',
            'Call again with --from 2026-03-01 (the whole day) or "2026-03-01T14:30:00".',
        ),
        ("date_from is not a date", "--from is not a date"),
        ("roles[0] must be one of user, tool", "--role must be one of user, tool"),
        ("matches: set include_low_signal.", "matches: set --all."),
        (
            "Only what sub-agents said matches: set include_sidechains.",
            "Only what sub-agents said matches: set --sidechains.",
        ),
        ("include_only_copies takes them out as well.", "--include-only-copies takes them out as well."),
        ("dry_run=false applies it.", "--apply applies it."),
        ("limit must be at least 1", "--limit must be at least 1"),
        ("call again with date_from and date_to", "call again with --from and --to"),
        ("Take it from keyword_search or hybrid_search.", "Take it from `backscroll search`."),
        ("Record it with knowledge_create.", "Record it with knowledge_create."),
        ("There is no session 'when'", "There is no session 'when'"),
        ("The limit is the disk's.", "The limit is the disk's."),
    ],
)
def test_tools_become_commands_and_arguments_options(engine: str, person: str) -> None:
    assert as_commands(engine) == person
