"""`paramedic rules`: the catalogue."""

from __future__ import annotations

import shutil
import sys
from typing import Annotated

import typer

from paramedic.reports.screen import speaks_unicode, wants_color
from paramedic.rules.catalogue import select


def add_to(app: typer.Typer) -> None:
    app.command("rules", rich_help_panel="Any time")(rules)


def rules(
    which: Annotated[list[str] | None, typer.Argument(help="Codes, names or prefixes (default: all).")] = None,
) -> None:
    """List the rules.

    Example:

      paramedic rules PM5
    """
    from paramedic.reports.catalogue import table

    width = min(shutil.get_terminal_size((80, 24)).columns, 120)
    print(
        table(
            select(chosen=tuple(which or ())),
            width=width,
            color=wants_color(sys.stdout),
            unicode=speaks_unicode(sys.stdout),
        ),
        end="",
    )
