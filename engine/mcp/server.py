"""Answers the requests of one MCP session: lists, prompts, and calls that it checks itself and hands to the front door.

A call runs in a query thread, its reply is made to fit there as well, and the event loop only waits. The front door is
whatever has `Api`'s one method. Refusals are tool errors with a text that says how to go on; anything unforeseen is a
defect, logged with its traceback and told without details.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from engine.arguments import nearest, validate
from engine.core.errors import EngineError, EngineStopping, InvalidArgument
from engine.mcp.errors import defect_text, error_text
from engine.mcp.progress import ProgressRelay
from engine.mcp.render import Rendered, render

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from concurrent.futures import Executor

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

    from engine.core.models.asking import Caller
    from engine.ipc.protocol import Toolset
    from engine.mcp.catalogue import Catalogue

logger = logging.getLogger(__name__)

NAME: Final = "backscroll"


class Api(Protocol):
    """The front door, as this room needs it."""

    def call(
        self,
        method: str,
        arguments: Mapping[str, Any],
        *,
        caller: Caller,
        progress: Callable[[int, int | None, str], None] | None = None,
        cancelled: threading.Event | None = None,
    ) -> dict[str, Any]:
        """Answer one operation, in the calling thread, for as long as it takes.

        Args:
            method: The operation's name.
            arguments: Already validated.
            caller: Who asks.
            progress: Called with done, total if known, and a few words; absent when nobody listens.
            cancelled: Set when the answer is not wanted any more.

        Returns:
            The answer as JSON, whole: no budget has been applied.

        Raises:
            EngineError: Reaches the caller in words.
        """
        ...


class SessionServer:
    """The handlers of one session.

    Args:
        api: The front door.
        catalogue: What there is to show.
        caller: Who is at the other end.
        toolset: What this session shows of it.
        version: The engine's.
        queries: Where calls run; their threads belong to the composition root.
    """

    def __init__(
        self, api: Api, catalogue: Catalogue, *, caller: Caller, toolset: Toolset, version: str, queries: Executor
    ) -> None:
        self._api = api
        self._caller = caller
        self._queries = queries
        self._tools = catalogue.tools(toolset)
        self._listed = [types.Tool.model_validate(tool, by_name=False) for tool in catalogue.wire(toolset)]
        self._operations = {name: tool.operation for name, tool in self._tools.items()}
        self._prompts = catalogue.prompts(toolset)
        self._closing = asyncio.Event()
        self.server: Server[Any] = Server(
            NAME,
            version=version,
            title="Backscroll",
            instructions=catalogue.instructions(toolset),
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )
        # In place of the toolkit's tracing, which is of no use without a collector, and nothing here goes to one.
        self.server.middleware = [_checked_call]

    def close(self) -> None:
        """Answer the calls that are still running with "call again", and take them back. On the event loop."""
        self._closing.set()

    async def _list_tools(
        self, _context: ServerRequestContext[Any, Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=self._listed)

    async def _list_prompts(
        self, _context: ServerRequestContext[Any, Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=prompt.name,
                    title=prompt.title,
                    description=prompt.description,
                    arguments=[
                        types.PromptArgument(
                            name=prompt.argument, description=prompt.argument_description, required=False
                        )
                    ],
                )
                for prompt in self._prompts.values()
            ]
        )

    async def _get_prompt(
        self, _context: ServerRequestContext[Any, Any], params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        prompt = self._prompts.get(params.name)
        if prompt is None:
            names = ", ".join(self._prompts) or "none"
            raise MCPError(code=types.INVALID_PARAMS, message=f"There is no prompt of this name. There are: {names}.")
        text = types.TextContent(type="text", text=prompt.filled(params.arguments or {}))
        return types.GetPromptResult(
            description=prompt.description, messages=[types.PromptMessage(role="user", content=text)]
        )

    async def _call_tool(
        self, context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        try:
            arguments = self._checked(params.name, params.arguments)
            rendered = await self._answer(context, params.name, arguments)
        except EngineError as error:
            return _refusal(error_text(error))
        except Exception:
            logger.exception("Tool %s failed", params.name if params.name in self._tools else "of an unknown name")
            return _refusal(defect_text(params.name))
        text = types.TextContent(type="text", text=rendered.text)
        return types.CallToolResult(content=[text], structured_content=rendered.structured)

    def _checked(self, name: str, arguments: object) -> dict[str, Any]:
        if name not in self._operations:
            near = nearest(name, tuple(self._operations))
            raise InvalidArgument(
                "There is no tool of this name",
                hint=f'Call "{near[0]}" instead.' if near else "Call one of the tools that are listed.",
                candidates=near or tuple(self._operations),
            )
        return validate(name, arguments, self._operations)

    async def _answer(self, context: ServerRequestContext[Any, Any], name: str, arguments: dict[str, Any]) -> Rendered:
        """Run a call in a query thread and wait for it; taken back by the client, it is told so and left alone."""
        cancelled = threading.Event()
        relay = ProgressRelay(context.session.report_progress, cancelled)
        loop = asyncio.get_running_loop()
        work = partial(_work, self._api, name, arguments, caller=self._caller, relay=relay, cancelled=cancelled)
        answer = loop.run_in_executor(self._queries, work)
        closing = asyncio.ensure_future(self._closing.wait())
        reporting = asyncio.ensure_future(relay.run())
        try:
            await asyncio.wait({answer, closing}, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                raise EngineStopping(
                    "Backscroll is restarting", "This call was not finished.", "Call again in a few seconds."
                )
            await relay.flush()
            return answer.result()
        finally:
            cancelled.set()
            for future in (answer, closing, reporting):
                future.cancel()


def _work(
    api: Api,
    name: str,
    arguments: dict[str, Any],
    *,
    caller: Caller,
    relay: ProgressRelay,
    cancelled: threading.Event,
) -> Rendered:
    """Body of a call, in a query thread."""
    try:
        wire = api.call(name, arguments, caller=caller, progress=relay, cancelled=cancelled)
    except EngineError:
        raise
    except Exception:
        if cancelled.is_set():
            # Whatever was interrupted may say so in its own way, and nobody waits for what it says.
            logger.debug("Tool %s was taken back", name, exc_info=True)
        raise
    return render(name, wire, arguments)


def _refusal(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


async def _checked_call(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Refuse arguments that are no object in words: the toolkit's own check says only that something is invalid."""
    given = (ctx.params or {}).get("arguments")
    if ctx.method == "tools/call" and not isinstance(given, dict | None):
        raise MCPError(
            code=types.INVALID_PARAMS,
            message='The arguments of a tool must be an object, such as {"query": "…"}. Call again with one.',
        )
    return await call_next(ctx)
