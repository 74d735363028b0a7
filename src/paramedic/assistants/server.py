"""The server: the tools under the Model Context Protocol, on stdin and stdout."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from paramedic.assistants.project import Project
from paramedic.errors import ParamedicError

INSTRUCTIONS = """paramedic examines PyTorch training. Begin with `check` on the training script, then `run`.
`verdict` is sick, healthy or inconclusive; findings[0] is the root cause: file, line, evidence, and what to try.
A rule under rules.abstained was not checked: silence about it is not health. `explain` a code before you change code
because of it. When nothing is found and the training is bad all the same: `audit` the data, then `diagnose`."""
READS_ONLY = ("report", "explain", "audit")


def make_server(folder: Path) -> Any:
    """A server for this folder; raises a ParamedicError when the SDK is missing."""
    try:
        from mcp.server import MCPServer
        from mcp_types import ToolAnnotations
    except ImportError:
        raise ParamedicError(
            "paramedic mcp needs the mcp package, version 2 or newer, which is not installed",
            expected="the extra mcp",
            fix="pip install 'paramedic[mcp]'",
        ) from None
    from paramedic import __version__
    from paramedic.assistants.tools import Tools

    server = MCPServer("paramedic", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING")
    tools = Tools(Project(folder=folder.resolve()))
    for name in ("run", "check", "report", "explain", "diagnose", "audit", "compare", "shapes"):
        hints = ToolAnnotations(read_only_hint=name in READS_ONLY, destructive_hint=False, open_world_hint=False)
        server.add_tool(_told(getattr(tools, name)), name=name, annotations=hints)
    return server


def _told(tool: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Our own errors reach the assistant as they would reach a user; others are bugs, and the SDK logs them."""
    from mcp.server.mcpserver.exceptions import ToolError

    @functools.wraps(tool)
    async def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return await tool(*args, **kwargs)
        except ParamedicError as error:
            raise ToolError(str(error)) from None

    return call
