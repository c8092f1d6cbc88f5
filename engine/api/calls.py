"""Calls by name, as Claude Code and the command line make them: which method answers, and the answer as JSON."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from engine.api.control import Work, no_progress
from engine.api.page import page_of
from engine.core.errors import InvalidArgument
from engine.core.models.asking import SearchFilters, SearchRequest
from engine.core.models.kinds import Role
from engine.core.models.wire import to_wire
from engine.knowledge.requests import Caller as KnowledgeCaller
from engine.knowledge.tools import OPERATIONS as KNOWLEDGE_TOOLS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from engine.api.front import EngineApi
    from engine.core.models.asking import Caller, Mode
    from engine.core.models.keeping import PruneReply, RestoreReply
    from engine.core.models.sessions import Reading, SessionList
    from engine.core.models.status import Coverage, ReindexReply

_SEARCHES: dict[str, Mode] = {"keyword_search": "keyword", "semantic_search": "semantic", "hybrid_search": "hybrid"}
_FILTERS = (
    "project", "when", "date_from", "date_to", "include_low_signal", "include_sidechains", "role", "kind", "tool",
    "session", "include_current",
)  # fmt: skip
_LONG = frozenset({"doctor", "prune"})
"""Calls that report progress and can be cancelled."""


class CallTable:
    """Answers calls by name with the front door's methods."""

    def __init__(self, api: EngineApi) -> None:
        self._api = api
        self._plain: dict[str, Callable[[Mapping[str, Any], Caller], Any]] = {
            "get_context": self._call_context,
            "get_session": self._call_session,
            "list_sessions": self._call_list,
            "get_period": self._call_period,
            "get_usage": self._call_usage,
            "status": lambda _arguments, _caller: self._api.status(),
            "coverage": self._call_coverage,
            "reindex": self._call_reindex,
            "pause": lambda arguments, _caller: self._api.pause(arguments.get("seconds")),
            "resume": lambda _arguments, _caller: self._api.resume(),
            "backup": lambda _arguments, _caller: self._api.keeping.backup(),
            "export_session": self._call_export,
            "forget": lambda arguments, _caller: self._api.keeping.forget(arguments["session_id"]),
            "restore": lambda arguments, _caller: self._api.keeping.restore(
                arguments["session_id"], Path(arguments["to"])
            ),
            "knowledge_init": lambda _arguments, _caller: dict(self._api.knowledge.init()),
            "knowledge_check": self._call_check,
        }

    @property
    def methods(self) -> frozenset[str]:
        """Every name that is known."""
        return frozenset(self._plain) | _LONG | frozenset(_SEARCHES) | frozenset(KNOWLEDGE_TOOLS)

    def call(
        self,
        method: str,
        arguments: Mapping[str, Any],
        *,
        caller: Caller,
        progress: Callable[[int, int | None, str], None] | None,
        cancelled: threading.Event | None,
    ) -> dict[str, Any]:
        """Answer a call with checked arguments. Returns JSON.

        Raises:
            EngineError: What the method raises, or a name that is not known.
        """
        if method in _SEARCHES:
            return to_wire(self._api.search(_request(method, arguments), caller, asked=(method, arguments)))
        if method in KNOWLEDGE_TOOLS:
            return self._call_knowledge(method, arguments, caller)
        if method in _LONG:
            work = Work(progress or no_progress, cancelled or threading.Event())
            if method == "doctor":
                fix, deep = arguments.get("fix", False), arguments.get("deep", False)
                return to_wire(self._api.keeping.doctor(fix=fix, deep=deep, only=arguments.get("only"), work=work))
            return to_wire(self._call_prune(arguments, caller, work))
        known = self._plain.get(method)
        if known is None:
            names = ", ".join(sorted(self.methods))
            raise InvalidArgument(f"There is no {method[:60]!r}", "", f"It takes: {names}.")
        answer = known(arguments, caller)
        # What is a dictionary is JSON already, and usage has money in it that must not be rounded.
        return cast("dict[str, Any]", answer if isinstance(answer, dict) else to_wire(answer))

    def _call_context(self, arguments: Mapping[str, Any], _caller: Caller) -> Reading:
        ids = arguments.get("ids") or [arguments.get("chunk_id") or arguments["message_uuid"]]
        return self._api.get_context(ids, before=arguments.get("before", 3), after=arguments.get("after", 3))

    def _call_session(self, arguments: Mapping[str, Any], caller: Caller) -> Reading:
        roles, session = arguments.get("roles"), arguments["session_id"]
        if session == "current":
            session = self._api.asking_session("get_session", arguments, caller) or session
        return self._api.get_session(
            session,
            offset=arguments.get("offset", 0),
            limit=arguments.get("limit", 50),
            roles=None if roles is None else frozenset(Role(each) for each in roles),
            include_sidechains=arguments.get("include_sidechains", False),
        )

    def _call_list(self, arguments: Mapping[str, Any], caller: Caller) -> SessionList:
        return self._listed(arguments, caller, with_highlights=False)

    def _call_period(self, arguments: Mapping[str, Any], caller: Caller) -> SessionList:
        return self._listed(arguments, caller, with_highlights=True)

    def _listed(self, arguments: Mapping[str, Any], caller: Caller, *, with_highlights: bool) -> SessionList:
        return self._api.list_sessions(
            project=arguments.get("project"),
            when_=arguments.get("when"),
            date_from=arguments.get("date_from"),
            date_to=arguments.get("date_to"),
            limit=arguments.get("limit", 10),
            offset=arguments.get("offset", 0),
            with_highlights=with_highlights,
            caller=caller,
        )

    def _call_usage(self, arguments: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        page = page_of(arguments.get("limit", 50), arguments.get("offset", 0))
        report = self._api.get_usage(
            by=arguments.get("by", "day"),
            when_=arguments.get("when"),
            date_from=arguments.get("date_from"),
            date_to=arguments.get("date_to"),
            project=arguments.get("project"),
            caller=caller,
        )
        reply = report.reply(page.limit, page.offset)
        return reply if page.applied is None else {**reply, "limit_applied": page.applied}

    def _call_knowledge(self, method: str, arguments: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        asking = KnowledgeCaller()
        if caller.is_model:
            session = self._api.asking_session(method, arguments, caller)
            asking = KnowledgeCaller(session_id=session, actor="agent:claude-code")
        return dict(self._api.knowledge.call(method, arguments, caller=asking))

    def _call_check(self, arguments: Mapping[str, Any], _caller: Caller) -> dict[str, Any]:
        if "giveUp" in arguments:
            self._api.knowledge.abandon(arguments["giveUp"])
        return dict(self._api.knowledge.check())

    def _call_coverage(self, arguments: Mapping[str, Any], _caller: Caller) -> Coverage:
        return self._api.coverage(
            by=arguments.get("by"), limit=arguments.get("limit", 50), offset=arguments.get("offset", 0)
        )

    def _call_reindex(self, arguments: Mapping[str, Any], caller: Caller) -> ReindexReply:
        return self._api.reindex(arguments.get("project"), full=arguments.get("full", False), caller=caller)

    def _call_prune(self, arguments: Mapping[str, Any], caller: Caller, work: Work) -> PruneReply:
        return self._api.keeping.prune(
            older_than_days=arguments["older_than_days"],
            project=arguments.get("project"),
            archive=arguments.get("archive", False),
            include_only_copies=arguments.get("include_only_copies", False),
            dry_run=arguments.get("dry_run", True),
            caller=caller,
            work=work,
        )

    def _call_restore(self, arguments: Mapping[str, Any], _caller: Caller) -> RestoreReply:
        return self._api.keeping.restore(arguments["session_id"], Path(arguments["to"]))

    def _call_export(self, arguments: Mapping[str, Any], _caller: Caller) -> dict[str, Any]:
        form = arguments.get("format", "markdown")
        text, missing = self._api.export(arguments["session_id"], form=form)
        reply = {"session_id": arguments["session_id"], "format": form, "text": text}
        if not missing:
            return reply
        lines = "1 line" if missing == 1 else f"{missing:,} lines"
        note = f"Incomplete: of {lines} no copy is left. `--format markdown` shows what the index kept of them."
        return {**reply, "missing": missing, "note": note}


def _request(method: str, arguments: Mapping[str, Any]) -> SearchRequest:
    filters = {name: arguments[name] for name in _FILTERS if name in arguments}
    if "role" in filters:
        filters["role"] = Role(filters["role"])
    return SearchRequest(
        query=arguments["query"],
        mode=_SEARCHES[method],
        filters=SearchFilters(**filters),
        limit=arguments.get("limit", 10),
        offset=arguments.get("offset", 0),
        fuzzy_fallback=arguments.get("fuzzy_fallback", True),
        rerank=arguments.get("rerank", True),
        read=arguments.get("read", 0),
        group=arguments.get("group"),
        prefix_last=arguments.get("prefix_last", False),
    )
