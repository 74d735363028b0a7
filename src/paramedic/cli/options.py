"""Options that several commands have."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from paramedic.cli import panels


class FailOn(StrEnum):
    error = "error"
    warning = "warning"


class OnNan(StrEnum):
    stop = "stop"
    go_on = "continue"
    shell = "shell"


Runs = Annotated[
    str | None,
    typer.Option(metavar="DIR", help="Where records go (default .paramedic/runs).", rich_help_panel=panels.WATCHING),
]
Select = Annotated[
    list[str] | None,
    typer.Option(metavar="RULES", help="Only these codes, names or prefixes.", rich_help_panel=panels.VERDICT),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(metavar="RULES", help="Skip these codes, names or prefixes.", rich_help_panel=panels.VERDICT),
]
Verbose = Annotated[
    int,
    typer.Option(
        "--verbose",
        "-v",
        count=True,
        show_default=False,
        help="More detail; -vv for everything.",
        rich_help_panel=panels.VERDICT,
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print only the verdict line.", rich_help_panel=panels.VERDICT)
]
Fail = Annotated[
    FailOn | None, typer.Option(help="Exit 1 on a finding of this severity or worse.", rich_help_panel=panels.VERDICT)
]
Nan = Annotated[
    OnNan | None,
    typer.Option(
        metavar="stop|continue|shell",
        help="Before a step with non-finite gradients (default stop). If set, the GPU synchronises every step.",
        rich_help_panel=panels.TROUBLE,
    ),
]
NoData = Annotated[
    bool,
    typer.Option(
        "--no-data", help="Do not store the batch in bundles of failing steps.", rich_help_panel=panels.TROUBLE
    ),
]
Limit = Annotated[
    int,
    typer.Option(
        min=0, metavar="MB", help="Size limit for bundles of failing steps; 0 for none.", rich_help_panel=panels.TROUBLE
    ),
]
Spikes = Annotated[
    bool,
    typer.Option(
        "--bundle-spikes", help="Write a bundle of steps whose loss or gradient spikes.", rich_help_panel=panels.TROUBLE
    ),
]
Probes = Annotated[
    bool,
    typer.Option(
        "--probes/--no-probes", help="Probe a copy of the model (at most twice).", rich_help_panel=panels.WATCHING
    ),
]
Pdb = Annotated[
    bool,
    typer.Option(
        "--pdb", help="Open a debugger where an uncaught exception was raised.", rich_help_panel=panels.TROUBLE
    ),
]
ShellAt = Annotated[
    int | None,
    typer.Option(min=0, metavar="STEP", help="Open a shell before this step's update.", rich_help_panel=panels.TROUBLE),
]
Budget = Annotated[
    str,
    typer.Option(
        metavar="SHARE", help="Overhead limit: 2%, 0.5%; 0 for no statistics.", rich_help_panel=panels.WATCHING
    ),
]
Every = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="Take statistics every N steps, regardless of cost.", rich_help_panel=panels.WATCHING
    ),
]
Compiled = Annotated[
    bool,
    typer.Option(
        "--compiled-outputs", help="Also record module outputs inside compiled graphs.", rich_help_panel=panels.WATCHING
    ),
]
Eager = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="Run N steps of a compiled program eagerly, to examine its calls.",
        rich_help_panel=panels.WATCHING,
    ),
]
Log = Annotated[
    bool,
    typer.Option("--log", help="Log losses, rates and times on stderr while it runs.", rich_help_panel=panels.WATCHING),
]
LogEvery = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Log every N steps, regardless of cost.",
        rich_help_panel=panels.WATCHING,
    ),
]
Trace = Annotated[
    int, typer.Option(min=0, metavar="N", help="Write a profiler trace of N steps.", rich_help_panel=panels.WATCHING)
]
Branches = Annotated[
    bool,
    typer.Option("--branches", help="List conditions that never took both branches.", rich_help_panel=panels.WATCHING),
]
WithAudit = Annotated[
    bool, typer.Option("--audit", help="Audit the script's data loaders when it ends.", rich_help_panel=panels.WATCHING)
]
Live = Annotated[
    bool,
    typer.Option("--live", help="Serve a local page that shows the run live.", rich_help_panel=panels.WATCHING),
]
Notify = Annotated[
    str | None,
    typer.Option(
        metavar="URL|COMMAND",
        help="POST JSON there on the first alarm and at the end.",
        rich_help_panel=panels.WATCHING,
    ),
]
Steps = Annotated[int, typer.Option(min=1, metavar="N", help="Optimizer steps before the script is stopped.")]


def words(given: list[str] | None) -> tuple[str, ...]:
    """Options may be repeated or separated by commas."""
    return tuple(word.strip() for item in given or () for word in item.split(",") if word.strip())
