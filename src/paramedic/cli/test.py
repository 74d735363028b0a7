"""`paramedic test`: a ready test file for a training script."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paramedic import voice
from paramedic.cli.script import ScriptCommand, target_of
from paramedic.errors import ParamedicError

if TYPE_CHECKING:
    from paramedic.launch import Target
    from paramedic.testing.script.running import FirstStep
    from paramedic.testing.script.writing import Apart

Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The test file to write.")]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there.")]


class TestCommand(ScriptCommand):
    """`-o tests/test_mnist.py` is ours behind the script as well: no training script writes a Python file."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for place, (option, value) in enumerate(pairwise(args)):
            if option in ("-o", "--output") and value.endswith(".py"):
                args = [option, value, *args[:place], *args[place + 2 :]]
                break
        return super().parse_args(ctx, args)


def add_to(app: typer.Typer) -> None:
    app.command("test", cls=TestCommand, rich_help_panel="After training")(test)


def test(ctx: typer.Context, output: Output = Path("tests/test_training.py"), force: Force = False) -> None:
    """Write a test file for a training script: its model, loss and batch, and the checks that apply.

    The script runs up to its first update. What it needs goes to a small file beside the test; the test itself reads
    the model and the loss from the script's source, so that it notices when they change. One more test runs the first
    steps of the script with all rules.

    Examples:

      paramedic test train.py

      paramedic test train.py --epochs 3 -o tests/test_mnist.py
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
    from paramedic.testing.script.writing import test_file

    step, fixture = first_step(target), output.with_suffix(".fixture")
    apart = _apart(target, step, fixture)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(test_file(target, output, apart), encoding="utf-8")
    beside = f" and {fixture} ({fixture.stat().st_size / 1e3:,.0f} kB)" if apart is not None else ""
    voice.say(f"paramedic: wrote {output}{beside}. Run: pytest {output}")


def _apart(target: Target, step: FirstStep, fixture: Path) -> Apart | None:
    """The script's model, loss and batch by themselves; where that cannot be done it is said why."""
    from paramedic.testing.script.storing import store_training
    from paramedic.testing.script.writing import Apart

    try:
        training, lines = store_training(Path(target.name), list(target.args), step, fixture)
    except ParamedicError as error:
        voice.say(f"{error}\nparamedic: only the test of the script as a whole is written")
        return None
    return Apart(training, fixture, lines)
