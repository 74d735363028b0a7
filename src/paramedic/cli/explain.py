"""`paramedic explain`: a rule's documentation."""

from __future__ import annotations

import shutil
import sys
from typing import Annotated

import typer

from paramedic.reports.screen import speaks_unicode, wants_color
from paramedic.rules.catalogue import find_rule


def add_to(app: typer.Typer) -> None:
    app.command("explain", rich_help_panel="Any time")(explain)


def explain(rule: Annotated[str, typer.Argument(help="A code or a name.")]) -> None:
    """Explain a rule: why it hurts, what to try first, when it is wrong.

    Example:

      paramedic explain PM502
    """
    from paramedic.reports.catalogue import explain as render

    width = min(shutil.get_terminal_size((80, 24)).columns, 100)
    print(
        render(find_rule(rule), width=width, color=wants_color(sys.stdout), unicode=speaks_unicode(sys.stdout)), end=""
    )
