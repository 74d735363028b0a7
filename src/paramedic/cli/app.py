"""The command line: `paramedic COMMAND`, grouped by the moment at which one needs it."""

from __future__ import annotations

from typing import Annotated

import typer

from paramedic.cli import (
    audit,
    bundle,
    compare,
    cure,
    demo,
    diagnose,
    doctor,
    dump,
    explain,
    export,
    journal,
    mcp,
    merge,
    replay,
    report,
    rules,
    run,
    runs,
    serve,
    shapes,
    synth,
    test,
    why,
)


def _version(wanted: bool) -> None:
    if wanted:
        from paramedic import __version__

        print(f"paramedic {__version__}")
        raise typer.Exit


app = typer.Typer(
    name="paramedic",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """A doctor for PyTorch training. Run your unmodified script under it:  paramedic run train.py"""


audit.add_to(app)
synth.add_to(app)
shapes.add_to(app)
run.add_to(app)
serve.add_to(app)
bundle.add_to(app)
dump.add_to(app)
report.add_to(app)
merge.add_to(app)
export.add_to(app)
runs.add_to(app)
replay.add_to(app)
compare.add_to(app)
explain.add_to(app)
diagnose.add_to(app)
why.add_to(app)
cure.add_to(app)
test.add_to(app)
rules.add_to(app)
journal.add_to(app)
demo.add_to(app)
doctor.add_to(app)
mcp.add_to(app)
