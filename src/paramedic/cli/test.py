"""`paramedic test`: a ready test file for a training script."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paramedic import voice
from paramedic.cli.script import ScriptCommand, target_of
from paramedic.errors import ParamedicError

Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The test file to write.")]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there.")]


def add_to(app: typer.Typer) -> None:
    app.command("test", cls=ScriptCommand, rich_help_panel="After training")(test)


def test(ctx: typer.Context, output: Output = Path("tests/test_training.py"), force: Force = False) -> None:
    """Write a test file for a training script: its model, loss and batch, and the checks that apply.

    The script runs up to its first update. What it needs goes to a small file beside the test; the test itself reads
    the model and the loss from the script's source, so that it notices when they change.

    Examples:

      paramedic test train.py

      paramedic test -o tests/test_mnist.py train.py --epochs 3
    """
    target = target_of(ctx)
    if output.suffix != ".py":
        raise ParamedicError(
            f"{output} is no Python file", expected="a name ending in .py", fix="-o tests/test_training.py"
        )
    if output.exists() and not force:
        raise ParamedicError(
            f"{output} exists", expected="a new file", fix=f"paramedic test --force -o {output} {target.name}"
        )
    from paramedic.testing.script.running import first_step
    from paramedic.testing.script.storing import store_training
    from paramedic.testing.script.writing import test_file

    script, fixture = Path(target.name), output.with_suffix(".fixture")
    step = first_step(target)
    training, lines = store_training(script, list(target.args), step, fixture)
    output.write_text(test_file(script, output, fixture, training, lines), encoding="utf-8")
    voice.say(f"paramedic: wrote {output} and {fixture} ({fixture.stat().st_size / 1e3:,.0f} kB). Run: pytest {output}")
