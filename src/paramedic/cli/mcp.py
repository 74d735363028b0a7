"""`paramedic mcp`: a local server for coding assistants."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paramedic.paths import check_input


def add_to(app: typer.Typer) -> None:
    app.command("mcp", rich_help_panel="Any time")(mcp)


def mcp(
    project: Annotated[Path, typer.Option(metavar="FOLDER", help="Paths outside this folder are refused.")] = Path("."),
) -> None:
    """Serve paramedic to coding assistants: run, check, report, explain, diagnose, audit, compare, shapes.

    A local server for the Model Context Protocol on stdin and stdout; it opens no port. Scripts are run only when the
    assistant asks for it, as the command line would run them.

    Example:

      paramedic mcp --project ~/my-model
    """
    check_input(project, what="folder", fix="paramedic mcp --project FOLDER")
    from paramedic.assistants.server import make_server

    make_server(project).run("stdio")
