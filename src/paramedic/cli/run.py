"""`paramedic run` and `paramedic check`: the script as it is, watched."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import time
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paramedic import notify as notifying
from paramedic import together, voice
from paramedic.cli import panels
from paramedic.cli.output import write_verdict
from paramedic.cli.script import ScriptCommand, target_of
from paramedic.cli.verdicts import Annotate, Baseline, Board, Html, Json, Junit, Sarif, Update, Wanted
from paramedic.config import load_config, new_run_id, rule_options, runs_folder
from paramedic.errors import ParamedicError
from paramedic.launch import Outcome, launch
from paramedic.launch import check as check_target
from paramedic.rules.catalogue import select as select_rules
from paramedic.settings import Settings

if TYPE_CHECKING:
    from paramedic.findings import Diagnosis


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
        "--verbose", "-v", count=True, help="More detail; -vv for everything.", rich_help_panel=panels.VERDICT
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
    typer.Option("--no-data", help="Leave the batch out of bundles of failing steps.", rich_help_panel=panels.TROUBLE),
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
        min=1, metavar="N", help="Take statistics every N steps, whatever the cost.", rich_help_panel=panels.WATCHING
    ),
]
Compiled = Annotated[
    bool,
    typer.Option(
        "--compiled-outputs", help="Record module outputs inside compiled graphs, too.", rich_help_panel=panels.WATCHING
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
Trace = Annotated[
    int, typer.Option(min=0, metavar="N", help="Write a profiler's trace of N steps.", rich_help_panel=panels.WATCHING)
]
WithAudit = Annotated[
    bool, typer.Option("--audit", help="Audit the script's data loaders when it ends.", rich_help_panel=panels.WATCHING)
]
Live = Annotated[
    bool,
    typer.Option(
        "--live", help="Serve a local page that shows the run while it runs.", rich_help_panel=panels.WATCHING
    ),
]
Notify = Annotated[
    str | None,
    typer.Option(
        metavar="URL|COMMAND",
        help="Send JSON there on the first alarm and at the end.",
        rich_help_panel=panels.WATCHING,
    ),
]
Steps = Annotated[int, typer.Option(min=1, metavar="N", help="Optimizer steps before the script is stopped.")]


def add_to(app: typer.Typer) -> None:
    app.command("check", cls=ScriptCommand, rich_help_panel="Before training")(check)
    app.command("run", cls=ScriptCommand, rich_help_panel="During training")(run)


def run(
    ctx: typer.Context,
    json: Json = None,
    html: Html = None,
    runs: Runs = None,
    select: Select = None,
    ignore: Ignore = None,
    verbose: Verbose = 0,
    quiet: Quiet = False,
    probes: Probes = True,
    fail_on: Fail = None,
    on_nan: Nan = None,
    no_data: NoData = False,
    bundle_limit: Limit = 1_000,
    bundle_spikes: Spikes = False,
    budget: Budget = "2%",
    every: Every = None,
    compiled_outputs: Compiled = False,
    eager_first: Eager = 0,
    log: Log = False,
    trace: Trace = 0,
    tensorboard: Board = None,
    pdb: Pdb = False,
    shell_at: ShellAt = None,
    audit: WithAudit = False,
    sarif: Sarif = None,
    junit: Junit = None,
    annotations: Annotate = None,
    baseline: Baseline = None,
    update_baseline: Update = False,
    live: Live = False,
    notify: Notify = None,
) -> None:
    """Run an unmodified training script, watch it, and report what is wrong.

    Options go before the script; everything after it is passed to the script. The exit code is the script's own, or 3
    if it was stopped before a step with non-finite gradients.

    Examples:

      paramedic run train.py --epochs 3

      paramedic run --html report.html -m mypackage.train lr=0.1
    """
    settings = Settings(
        budget=share(budget),
        every=every,
        compiled_outputs=compiled_outputs,
        eager_first=eager_first,
        log=log,
        trace=trace,
        pdb=pdb,
        shell_at=shell_at,
        probes=probes,
        **on_nan_settings(on_nan),
        bundle_data=not no_data,
        bundle_limit=bundle_limit,
        bundle_spikes=bundle_spikes,
        audit=audit,
        notify=notifying.checked(notify),
    )
    wanted = Wanted(
        json=json, html=html, sarif=sarif, junit=junit, tensorboard=tensorboard, annotations=annotations,
        baseline=baseline, update_baseline=update_baseline,
    )  # fmt: skip
    _watch(ctx, settings, wanted, runs, select, ignore, verbose, quiet, fail_on, live)


def check(
    ctx: typer.Context,
    steps: Steps = 20,
    json: Json = None,
    html: Html = None,
    runs: Runs = None,
    select: Select = None,
    ignore: Ignore = None,
    verbose: Verbose = 0,
    quiet: Quiet = False,
    on_nan: Nan = None,
    probes: Probes = True,
    eager_first: Eager = 0,
    sarif: Sarif = None,
    junit: Junit = None,
    annotations: Annotate = None,
    baseline: Baseline = None,
    update_baseline: Update = False,
) -> None:
    """Run a training script for a few steps, stop it, and give a verdict.

    Exits with 0 when nothing was found, with 1 when something was.

    Example:

      paramedic check --steps 50 train.py --epochs 3
    """
    settings = Settings(stop_after=steps, probes=probes, eager_first=eager_first, **on_nan_settings(on_nan))
    wanted = Wanted(
        json=json, html=html, sarif=sarif, junit=junit, annotations=annotations, baseline=baseline,
        update_baseline=update_baseline,
    )  # fmt: skip
    _watch(ctx, settings, wanted, runs, select, ignore, verbose, quiet, None)


def _watch(
    ctx: typer.Context,
    settings: Settings,
    wanted: Wanted,
    runs: str | None,
    select: list[str] | None,
    ignore: list[str] | None,
    verbose: int,
    quiet: bool,
    fail_on: FailOn | None,
    live: bool = False,
) -> None:
    target, steps = target_of(ctx), settings.stop_after
    settings = replace(settings, announce=steps is None and not quiet, select=words(select), ignore=words(ignore))
    config = load_config()
    settings = replace(settings, startup=config.startup)
    rules = select_rules(chosen=words(select) or config.select, ignored=words(ignore) or config.ignore)
    options = rule_options(config)
    wanted = wanted.checked()
    if wanted.tensorboard is not None:
        settings = replace(settings, tensorboard=str(wanted.tensorboard))
    name = together.run_id() or new_run_id()
    if live:
        from paramedic.serve.server import beside

        check_target(target)
        page = beside(runs_folder(config, runs), name, select=words(select), ignore=words(ignore))
        voice.say(f"paramedic: live page {page}")
    outcome = launch(target, runs=runs_folder(config, runs), settings=settings, name=name)
    if not outcome.torch_seen:
        voice.say(
            f"paramedic: {target.name} never imported torch, so there was nothing to watch. Nothing was recorded."
        )
        _leave(outcome, outcome.exit_code)
    code = outcome.exit_code
    if not together.speaks():
        _leave(outcome, code)
    together.wait_for_the_others(outcome.folder)
    ended = time.perf_counter()
    try:
        from paramedic.diagnosis import diagnose
        from paramedic.past_runs import conclude

        diagnosis = diagnose(outcome.folder, rules, options, incomplete=outcome.record_failed)
        if settings.audit:
            from paramedic.audit.from_run import with_audit

            diagnosis = with_audit(diagnosis, outcome.folder, outcome.loaders, rules, options)
        diagnosis = wanted.judged(diagnosis)
        conclude(outcome.folder, diagnosis)
        importlib.import_module("paramedic.reports.terminal")  # takes time as well, which is stated
        diagnosis = _with_cost_of_verdict(diagnosis, time.perf_counter() - ended)
        write_verdict(diagnosis, verbose=verbose, quiet=quiet)
        _notify(settings.notify, diagnosis)
        wanted.write(diagnosis, outcome.folder)
    except ParamedicError as error:
        if not outcome.record_failed:  # that was said when it happened
            voice.say(str(error))
        _leave(outcome, code or (2 if steps else 0))
    if steps is not None and code == 0:
        code = 1 if diagnosis.new_alarms else 0
    elif steps is not None:
        code = 1
    if fail_on is not None and code == 0:
        severities = ("error",) if fail_on is FailOn.error else ("error", "warning")
        code = int(any(finding.severity in severities for finding in diagnosis.new_alarms))
    _leave(outcome, code)


def _with_cost_of_verdict(diagnosis: Diagnosis, seconds: float) -> Diagnosis:
    """A stopwatch would count it among what comes after the script."""
    run = diagnosis.run
    if run.around is None:
        return diagnosis
    return replace(diagnosis, run=replace(run, around=round(run.around + seconds, 3)))


def _notify(target: str | None, diagnosis: Diagnosis) -> None:
    if target is not None:
        from paramedic.findings.words import headline, verdict

        said = f"paramedic: {diagnosis.run.script} has ended: {headline(diagnosis)}. {verdict(diagnosis)}"
        codes = [finding.code for finding in diagnosis.alarms]
        notifying.send(target, "end", said, run=diagnosis.run.id, verdict=diagnosis.verdict, findings=codes)


def on_nan_settings(chosen: OnNan | None) -> dict[str, Any]:
    """An explicit --on-nan also waits for accelerators; by default that would cost more than the budget."""
    return {"on_nan": (chosen or OnNan.stop).value, "wait_for_device": chosen in (OnNan.stop, OnNan.shell)}


def share(text: str) -> float:
    """A share of the run's time: 2%, or 0.02."""
    try:
        found = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found <= 1:
        raise ParamedicError(
            f"--budget {text} is not a share of the run's time",
            expected="a percentage such as 2% or 0.5%, or 0 for no statistics",
            fix="--budget 2%",
        )
    return found


def words(given: list[str] | None) -> tuple[str, ...]:
    """Options may be repeated or separated by commas."""
    return tuple(word.strip() for item in given or () for word in item.split(",") if word.strip())


def _leave(outcome: Outcome, code: int) -> None:
    for stream in (sys.stdout, sys.stderr):  # the script may have closed or replaced them
        with contextlib.suppress(Exception):
            stream.flush()
    if (
        outcome.interrupted and os.name == "posix"
    ):  # die of the signal, as python does, so that shells and schedulers see it
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    sys.exit(code)
