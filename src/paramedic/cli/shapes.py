"""`paramedic shapes`: every module's shapes, as a table, as comments in the source, or live."""

from __future__ import annotations

import difflib
import os
import shutil
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from paramedic import voice
from paramedic.cli.script import ScriptCommand, target_of
from paramedic.paths import check_outputs, write_text

Input = Annotated[
    list[str] | None, typer.Option("--input", metavar="SIZES", help="Of FILE.py:Net: 2,3,32,32 or 2,16:int.")
]
Annotate = Annotated[bool, typer.Option("--annotate", help="Write shapes behind the assignments of forward().")]
Check = Annotated[bool, typer.Option("--check", help="Exit with 1 where comments are missing or wrong; write nothing.")]
Diff = Annotated[bool, typer.Option("--diff", help="Show what --annotate would change; write nothing.")]
Loop = Annotated[bool, typer.Option("--loop", help="Annotate the training loop, too.")]
Live = Annotated[
    str | None, typer.Option("--live", metavar="PATTERN", help="Run the script; shapes of these modules, per step.")
]

Json = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the table as JSON.")]


def add_to(app: typer.Typer) -> None:
    app.command("shapes", cls=ScriptCommand, rich_help_panel="Before training")(shapes)


def shapes(
    ctx: typer.Context,
    input: Input = None,
    annotate: Annotate = False,
    check: Check = False,
    diff: Diff = False,
    loop: Loop = False,
    live: Live = None,
    json: Json = None,
) -> None:
    """Print every module's shapes, parameters, FLOPs and memory; or write shapes into the source.

    Of a script, from its first step; of FILE.py:Net, from the sizes of its inputs alone. Dimensions that can vary have
    names.

    Examples:

      paramedic shapes train.py

      paramedic shapes model.py:Net --input 2,3,32,32

      paramedic shapes --annotate train.py

      paramedic shapes --live "encoder.*" train.py
    """
    target = target_of(ctx)
    check_outputs(json)
    json = json.absolute() if json is not None else None  # the script may change the folder
    if live is not None:
        _run_live(target, live)
        return
    if annotate or check or diff:
        raise typer.Exit(_annotate(target, input, write=annotate and not (check or diff), show=diff, loop=loop))
    from paramedic.reports.screen import clean, speaks_unicode
    from paramedic.shapes.printing import as_json, render
    from paramedic.shapes.sources import from_class, from_script
    from paramedic.shapes.table import measure

    model, batch = from_class(target.name, input or []) if ":" in target.name else from_script(target)
    table = measure(model, batch)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() or "COLUMNS" in os.environ else None
    print(clean(render(table, width), unicode=speaks_unicode(sys.stdout)))
    if json is not None:
        write_text(json, as_json(table), fix="choose another place")
        voice.say(f"paramedic: wrote {json}")


def _run_live(target: Any, pattern: str) -> None:
    from paramedic.launch import check as exists
    from paramedic.shapes.live import live
    from paramedic.testing.script.running import run_to_end

    exists(target)
    with live(pattern):
        run_to_end(target)


def _annotate(target: Any, inputs: list[str] | None, *, write: bool, show: bool, loop: bool) -> int:
    """0 where nothing is to be changed, or where it was changed; else 1."""
    from paramedic.shapes.annotating import annotate, check_installed
    from paramedic.shapes.observing import by_file

    check_installed()
    changed = 0
    for file, lines in by_file(target, inputs or [], loop=loop).items():
        old = Path(file).read_text(encoding="utf-8")
        new = annotate(old, lines)
        if new == old:
            continue
        changed += 1
        if write:
            Path(file).write_text(new, encoding="utf-8")
            voice.say(f"paramedic: wrote {len(lines)} shapes into {file}")
        elif show:
            parts = difflib.unified_diff(old.splitlines(True), new.splitlines(True), file, file)
            sys.stdout.write("".join(parts))
        else:
            voice.say(f"paramedic: {file} lacks shapes, or has wrong ones; paramedic shapes --annotate {target.name}")
    if not changed:
        voice.say(f"paramedic: every shape that {target.name} shows is already in the source")
    return int(bool(changed) and not write and not show)
