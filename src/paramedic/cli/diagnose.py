"""`paramedic diagnose`: controlled experiments on the unmodified script, then a verdict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paramedic import voice
from paramedic.cli.options import Ignore, Quiet, Runs, Select, Verbose, words
from paramedic.cli.script import ScriptCommand, target_of
from paramedic.cli.verdicts import Html, Json
from paramedic.config import load_config, new_run_id, rule_options, runs_folder
from paramedic.errors import ParamedicError
from paramedic.launch import Target
from paramedic.launch import check as check_target
from paramedic.paths import check_folder, check_outputs
from paramedic.rules.catalogue import select as select_rules

if TYPE_CHECKING:
    from paramedic.lab.on_ray import RayRunner
    from paramedic.lab.runner import Runner

Only = Annotated[list[str] | None, typer.Option(metavar="NAMES", help="Only these experiments, after the baseline.")]
Steps = Annotated[int, typer.Option(min=20, metavar="N", help="Maximum optimizer steps per run.")]
Limit = Annotated[float, typer.Option(min=5, metavar="SECONDS", help="Total time for all experiments.")]
Jobs = Annotated[int | None, typer.Option(min=1, metavar="N", help="Experiments to run in parallel (default: 2).")]
Folds = Annotated[int, typer.Option(metavar="K", help="Also cross-validate your own model in K folds.")]
InPlace = Annotated[bool, typer.Option("--in-place", help="Run in this folder, not in copies of it.")]
On = Annotated[str | None, typer.Option(metavar="ray", help="Run on a Ray cluster: ray, or ray://HOST:PORT.")]


def add_to(app: typer.Typer) -> None:
    app.command("diagnose", cls=ScriptCommand, rich_help_panel="After training")(diagnose)


def diagnose(
    ctx: typer.Context,
    only: Only = None,
    steps: Steps = 300,
    time_limit: Limit = 300.0,
    jobs: Jobs = None,
    folds: Folds = 0,
    on: On = None,
    in_place: InPlace = False,
    json: Json = None,
    html: Html = None,
    runs: Runs = None,
    select: Select = None,
    ignore: Ignore = None,
    verbose: Verbose = 0,
    quiet: Quiet = False,
) -> None:
    """Run controlled experiments to find out why a script trains badly: model, data or settings.

    The script runs several times, each time with one thing changed: a single repeated batch, permuted labels, another
    learning rate … It runs in copies of the working directory, so your files are not overwritten. Exits 0 if nothing
    wrong was found, 1 otherwise.

    Examples:

      paramedic diagnose train.py --epochs 3

      paramedic diagnose --only one-batch,twin --steps 500 train.py
    """
    from paramedic.lab import report
    from paramedic.lab.catalogue import chosen
    from paramedic.lab.session import Options, Session
    from paramedic.past_runs import conclude

    if folds and not 2 <= folds <= 20:
        raise ParamedicError(f"--folds {folds} is out of range", expected="2 to 20", fix="--folds 5")
    target = target_of(ctx)
    check_target(target)
    config = load_config()
    rules = select_rules(chosen=words(select) or config.select, ignored=words(ignore) or config.ignore)
    options = Options(steps=steps, time_limit=time_limit, only=chosen(words(only)), folds=folds)
    check_outputs(json, html)
    check_folder(runs_folder(config, runs), fix="--runs some-other-folder")
    folder = runs_folder(config, runs) / new_run_id()
    progress = report.Progress(voice.stream(), quiet=quiet)
    progress.opening(target.command)
    runner = runner_for(on, target, folder, jobs=jobs, in_place=in_place)
    session = Session(runner, options, rules, rule_options(config), progress.result)
    session.investigate(progress.tick)
    progress.done()
    conclusion = session.conclude() if (folder / "main.db").exists() else None
    if conclusion is None or not (session.results["baseline"].steps or conclusion.diagnosis.alarms):
        raise _never_trained(target, folder)
    conclude(folder, conclusion.diagnosis, kind="experiments")
    report.show(conclusion, verbose=verbose, quiet=quiet)
    report.write(conclusion, json=json, html=html)
    raise typer.Exit(int(conclusion.cause != "none" or bool(conclusion.diagnosis.alarms)))


def _never_trained(target: Target, folder: Path) -> ParamedicError:
    output = folder / "output.txt"
    said = output.read_text(errors="replace").strip().splitlines() if output.exists() else []
    return ParamedicError(
        "the script took no optimizer step, so there is nothing to compare with",
        expected=f"a script that trains; its last line of output was: {said[-1] if said else 'nothing'}",
        fix=f"paramedic run {target.name}",
    )


def runner_for(on: str | None, target: Target, folder: Path, *, jobs: int | None, in_place: bool) -> Runner | RayRunner:
    """Processes on this machine, forked from one that has torch already; or tasks of a Ray cluster."""
    if on is not None:
        from paramedic.lab.on_ray import RayRunner

        return RayRunner(target, folder, jobs=jobs, address=on)
    from paramedic.lab.runner import Runner, prepare

    prepare()
    return Runner(target, folder, jobs=jobs or 2, in_place=in_place)
