"""`paramedic why`: the whole flow on one script, and one verdict."""

from __future__ import annotations

import typer

from paramedic import voice
from paramedic.cli.diagnose import Limit, Steps
from paramedic.cli.options import Ignore, Quiet, Runs, Select, Verbose, words
from paramedic.cli.output import write_verdict
from paramedic.cli.script import ScriptCommand, target_of
from paramedic.cli.verdicts import Html, Json
from paramedic.config import load_config, new_run_id, rule_options, runs_folder
from paramedic.errors import ParamedicError
from paramedic.launch import check as check_target
from paramedic.paths import check_folder, check_outputs
from paramedic.rules.catalogue import select as select_rules


def add_to(app: typer.Typer) -> None:
    app.command("why", cls=ScriptCommand, rich_help_panel="After training")(why)


def why(
    ctx: typer.Context,
    steps: Steps = 300,
    time_limit: Limit = 300.0,
    json: Json = None,
    html: Html = None,
    runs: Runs = None,
    select: Select = None,
    ignore: Ignore = None,
    verbose: Verbose = 0,
    quiet: Quiet = False,
) -> None:
    """Find out why a script trains badly: check it, audit its data, experiment with it, and give one verdict.

    All of it runs in copies of the working directory, so your files are not overwritten. Exits 0 if nothing wrong was
    found, 1 otherwise.

    Example:

      paramedic why train.py --epochs 3
    """
    from paramedic.lab import checking, report
    from paramedic.lab.runner import Runner, prepare
    from paramedic.lab.session import Options, Session
    from paramedic.past_runs import conclude

    target, config = target_of(ctx), load_config()
    check_target(target)
    rules = select_rules(chosen=words(select) or config.select, ignored=words(ignore) or config.ignore)
    options = rule_options(config)
    check_outputs(json, html)
    check_folder(runs_folder(config, runs), fix="--runs some-other-folder")
    folder = runs_folder(config, runs) / new_run_id()
    progress = report.Progress(voice.stream(), quiet=quiet)
    progress.say(f"paramedic: first steps and data of {target.command}")
    prepare()
    runner = Runner(target, folder, jobs=2, in_place=False)
    first = checking.look(runner, progress.tick, words(select), words(ignore))
    progress.done()
    progress.say(f"  {checking.in_words(first)}")
    progress.opening(target.command)
    session = Session(runner, Options(steps=steps, time_limit=time_limit), rules, options, progress.result)
    session.investigate(progress.tick)
    progress.done()
    if not (folder / "main.db").exists() or not session.results["baseline"].steps:
        diagnosis = checking.alone(runner, first, rules, options)
        write_verdict(diagnosis, verbose=verbose, quiet=quiet)
        if json or html:
            raise ParamedicError(
                "the script took no optimizer step in the experiments, so no file was written",
                expected="a script that trains",
                fix=f"paramedic run --html report.html {target.name}",
            )
        raise typer.Exit(1)
    conclusion = checking.one_verdict(session.conclude(), first, rules)
    conclude(folder, conclusion.diagnosis, kind="experiments")
    report.show(conclusion, verbose=verbose, quiet=quiet)
    report.write(conclusion, json=json, html=html)
    raise typer.Exit(int(conclusion.cause != "none" or bool(conclusion.diagnosis.alarms)))
