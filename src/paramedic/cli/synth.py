"""`paramedic synth`: tasks with a known answer, as files, and as a ladder for a model."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from paramedic.cli.flags import Commands
from paramedic.errors import ParamedicError
from paramedic.paths import check_folder


class TaskOrCommand(Commands):
    """`paramedic synth sine …` is short for `paramedic synth task sine …`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        known = args and args[0] in self.commands
        return super().resolve_command(ctx, args if known else ["task", *args])


class Format(StrEnum):
    npz = "npz"
    jsonl = "jsonl"
    parquet = "parquet"
    images = "images"


class Split(StrEnum):
    random = "random"
    gap = "gap"


Set = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting of the task; may be repeated.")
]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="Random seed; the same seed gives the same samples.")]

synth = typer.Typer(cls=TaskOrCommand, no_args_is_help=True)


def add_to(app: typer.Typer) -> None:
    app.add_typer(synth, name="synth", rich_help_panel="Before training")


@synth.callback()
def main() -> None:
    """Synthetic tasks whose best possible result is known, in rising difficulty.

    A model that cannot learn them has a bug; one that can, and fails on your data, points at the data.

    Examples:

      paramedic synth list

      paramedic synth sine --out data --n 1000 --seed 0 --split gap

      paramedic synth ladder model.py:make_model
    """


@synth.command("list")
def list_tasks() -> None:
    """List the tasks, their rungs and settings.

    Example:

      paramedic synth list
    """
    from paramedic.cli.synth_words import catalogue

    _print(catalogue())


@synth.command("task")
def task(
    name: Annotated[str, typer.Argument(metavar="TASK", help="See `paramedic synth list`.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where train, test and task.json go.")],
    n: Annotated[int, typer.Option(min=5, metavar="N", help="Samples; every fifth is for testing.")] = 1000,
    seed: Seed = 0,
    split: Annotated[Split, typer.Option(help="gap: test outside the training range.")] = Split.random,
    level: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Rung of the ladder (default: the usual form).")
    ] = None,
    format: Annotated[Format, typer.Option(help="Kind of files.")] = Format.npz,
    set: Set = None,
) -> None:
    """Write a task as files, with its optimum beside it; `paramedic synth sine …` will do.

    Example:

      paramedic synth sine --out data --n 1000 --seed 0 --split gap
    """
    from paramedic import synth as tasks
    from paramedic.cli.synth_words import written

    check_folder(out, fix="--out some-other-folder")
    paths = tasks.write(name, out, format=format, n=n, seed=seed, split=split, level=level, **settings_of(set))
    _print(written(paths))


@synth.command("ladder")
def ladder(
    factory: Annotated[
        str, typer.Argument(metavar="FILE.py:NAME | MODULE:NAME", help="A function or class that makes the model.")
    ],
    task: Annotated[
        list[str] | None, typer.Option(metavar="TASK", help="The task to try (default: all that fit the model).")
    ] = None,
    steps: Annotated[int, typer.Option(min=50, metavar="N", help="Training steps per rung and learning rate.")] = 1500,
    seed: Seed = 0,
    set: Set = None,
) -> None:
    """Train a model through the rungs of a task and say at which it breaks.

    The file is imported: keep its training below `if __name__ == "__main__"`. Exit code 1 when a rung breaks.

    Examples:

      paramedic synth ladder model.py:make_model

      paramedic synth ladder mypackage.nets:Net --task shapes --set size=32 --set channels=3
    """
    from paramedic.cli.synth_words import climbed, heading, rung_line
    from paramedic.synth.factory import load
    from paramedic.synth.fitting import choose
    from paramedic.synth.ladder import climb

    make, settings = load(factory), settings_of(set)
    broken = False
    for chosen, own in choose(make, task or [], settings):
        _print(heading(chosen, own))
        results = []
        for result in climb(make, chosen, own, steps=steps, seed=seed):
            results.append(result)
            _print(rung_line(result))
        _print(climbed(chosen, results))
        broken = broken or not results[-1].passed
    raise typer.Exit(int(broken))


def settings_of(words: list[str] | None) -> dict[str, str]:
    """NAME=VALUE words as a dictionary."""
    pairs = [word.partition("=") for word in words or []]
    for name, equals, _ in pairs:
        if not equals:
            raise ParamedicError(f"--set {name} lacks a value", expected="NAME=VALUE", fix=f"--set {name}=1")
    return {name: value for name, _, value in pairs}


def _print(text: str) -> None:
    import sys

    from paramedic.reports.screen import clean, speaks_unicode

    print(clean(text, unicode=speaks_unicode(sys.stdout)), flush=True)
