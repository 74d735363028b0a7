"""Builds the command line: all commands for whoever reads the help, only one for whoever knows what to type."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Annotated

import typer

from paramedic.cli.flags import Commands

# The modules, each with its commands, in the order of the help.
MODULES = {
    name: (name,)
    for name in (
        "audit", "synth", "shapes", "run", "serve", "bundle", "dump", "report", "merge", "export", "runs", "replay",
        "compare", "explain", "diagnose", "why", "cure", "test", "rules", "journal", "demo", "doctor", "mcp",
    )
} | {"run": ("run", "check")}  # fmt: skip


def build(words: Sequence[str] = ()) -> typer.Typer:
    """With all commands, or only with the one that these words begin with: every run would wait for the others."""
    asked = [name for name, commands in MODULES.items() if words and words[0] in commands]
    app = typer.Typer(
        name="paramedic",
        cls=Commands,
        no_args_is_help=True,
        add_completion=not asked,  # an option of the whole, which no word of a command is
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(main)
    for name in asked or MODULES:
        importlib.import_module(f"paramedic.cli.{name}").add_to(app)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        from paramedic import __version__

        print(f"paramedic {__version__}")
        raise typer.Exit


def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """A doctor for PyTorch training. Run your unmodified script under it:  paramedic run train.py"""
