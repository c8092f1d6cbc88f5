"""What stands around a hit: the prompt and the answer of its exchange, the title of its session."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from engine.core.models.kinds import Role
from engine.store.codes import ROLES
from engine.store.redactions import shown
from engine.store.texts import plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

_TEXT = shown(plain("x.text"))


def exchange_ends(connection: apsw.Connection, exchanges: Iterable[int]) -> dict[int, tuple[str | None, str | None]]:
    """Return (prompt, last answer) of exchanges, as indexed."""
    found = connection.execute(
        f"""SELECT j.value,
              (SELECT {_TEXT} FROM chunks c JOIN texts x ON x.id = c.id
               WHERE c.message_id = j.value AND c.role = {ROLES[Role.USER]} ORDER BY c.block LIMIT 1),
              (SELECT {_TEXT} FROM texts x WHERE x.id = (
                 SELECT c.id FROM chunks c WHERE c.exchange_id = j.value AND c.role = {ROLES[Role.ASSISTANT]}
                   AND c.kind = 0 AND c.sidechain = 0 ORDER BY c.message_id DESC, c.block DESC LIMIT 1))
            FROM json_each(?) j""",
        (json.dumps(list(set(exchanges))),),
    )
    return {row[0]: (row[1], row[2]) for row in found}


def session_titles(connection: apsw.Connection, sessions: Iterable[int]) -> dict[int, str]:
    """Return the titles of sessions that have one, as `SessionInfo.title` chooses them, without counting messages."""
    titles = ", ".join(shown(f"s.{each}") for each in ("custom_title", "ai_title", "last_prompt", "summary", "opening"))
    found = connection.execute(
        f"SELECT s.id, {titles} FROM json_each(?) j CROSS JOIN sessions s ON s.id = j.value",
        (json.dumps(list(set(sessions))),),
    )
    chosen = {row[0]: next((title for title in row[1:] if title), None) for row in found}
    return {number: title for number, title in chosen.items() if title is not None}
