"""`paramedic run` and `paramedic check`: the script as it is, watched."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from paramedic import notify as notifying
from paramedic import together, voice
from paramedic.cli.options import (
    Branches,
    Budget,
    Compiled,
    Eager,
    Every,
    Fail,
    FailOn,
    Ignore,
    Limit,
    Live,
    Log,
    LogEvery,
    Nan,
    NoData,
    Notify,
    OnNan,
    Pdb,
    Probes,
    Quiet,
    Runs,
    Select,
    ShellAt,
    Spikes,
    Steps,
    Trace,
    Verbose,
    WithAudit,
    words,
)
from paramedic.cli.output import write_verdict
from paramedic.cli.script import ScriptCommand, target_of
from paramedic.cli.verdicts import Annotate, Baseline, Board, Html, Json, Junit, Sarif, Update, Wanted
from paramedic.config import load_config, new_run_id, rule_options, runs_folder
from paramedic.errors import ParamedicError
from paramedic.launch import Outcome, Target, launch
from paramedic.launch import check as check_target
from paramedic.rules.catalogue import select as select_rules
from paramedic.settings import Settings

if TYPE_CHECKING:
    from paramedic.findings import Diagnosis
    from paramedic.rules.rule import Rule


Options = Mapping[str, Mapping[str, Any]]  # of rules


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
    log_every: LogEvery = None,
    trace: Trace = 0,
    branches: Branches = False,
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

    Options go before the script; everything after it is passed to the script.
    The exit code is the script's own; 3 if non-finite gradients stopped it.

    Examples:

      paramedic run train.py --epochs 3

      paramedic run --html report.html -m mypackage.train lr=0.1
    """
    settings = Settings(
        budget=share(budget),
        every=every or log_every,
        compiled_outputs=compiled_outputs,
        eager_first=eager_first,
        log=log or log_every is not None,
        log_every=log_every,
        trace=trace,
        branches=branches,
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

    Exits 0 if nothing was found, 1 otherwise.

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
    folder = runs_folder(config, runs)
    if live:
        _serve_beside(target, folder, name, settings)
    outcome = launch(target, runs=folder, settings=settings, name=name)
    code = outcome.exit_code
    if not outcome.torch_seen:
        if not outcome.refused:  # else it was said already why it could not be watched
            voice.say(f"paramedic: {target.name} never imported torch, so there was nothing to watch or record.")
        _leave(outcome, code)
    if not together.speaks():
        _leave(outcome, code)
    together.wait_for_the_others(outcome.folder)
    ended = time.perf_counter()
    try:
        diagnosis = _diagnosed(outcome, settings, wanted, rules, options)
        importlib.import_module("paramedic.reports.terminal")  # takes time as well, which is stated
        diagnosis = _with_cost_of_verdict(diagnosis, time.perf_counter() - ended)
        write_verdict(diagnosis, verbose=verbose, quiet=quiet)
        if settings.branches:
            _list_branches(outcome.folder)
        _notify(settings.notify, diagnosis)
        wanted.write(diagnosis, outcome.folder)
    except ParamedicError as error:
        if not outcome.record_failed:  # that was said when it happened
            voice.say(str(error))
        _leave(outcome, code or (2 if steps else 0))
    _leave(outcome, _exit_code(code, diagnosis, checking=steps is not None, fail_on=fail_on))


def _serve_beside(target: Target, runs: Path, name: str, settings: Settings) -> None:
    from paramedic.serve.server import beside

    check_target(target)
    voice.say(f"paramedic: live page {beside(runs, name, select=settings.select, ignore=settings.ignore)}")


def _diagnosed(
    outcome: Outcome,
    settings: Settings,
    wanted: Wanted,
    rules: Sequence[Rule],
    options: Mapping[str, Mapping[str, Any]],
) -> Diagnosis:
    from paramedic.diagnosis import diagnose
    from paramedic.past_runs import conclude

    diagnosis = diagnose(outcome.folder, rules, options, incomplete=outcome.record_failed)
    if settings.audit:
        from paramedic.auditing.from_run import with_audit

        diagnosis = with_audit(diagnosis, outcome.folder, outcome.loaders, rules, options)
    diagnosis = wanted.judged(diagnosis)
    conclude(outcome.folder, diagnosis)
    return diagnosis


def _exit_code(code: int, diagnosis: Diagnosis, *, checking: bool, fail_on: FailOn | None) -> int:
    """The script's own, unless the verdict is asked for."""
    if checking:
        code = 1 if code or diagnosis.new_alarms else 0
    if fail_on is not None and code == 0:
        severities = ("error",) if fail_on is FailOn.error else ("error", "warning")
        code = int(any(finding.severity in severities for finding in diagnosis.new_alarms))
    return code


def _with_cost_of_verdict(diagnosis: Diagnosis, seconds: float) -> Diagnosis:
    """A stopwatch would count it among what comes after the script."""
    run = diagnosis.run
    if run.around is None:
        return diagnosis
    return replace(diagnosis, run=replace(run, around=round(run.around + seconds, 3)))


def _list_branches(folder: Path) -> None:
    from paramedic.record.facts import LinesRun
    from paramedic.record.reader import open_runs
    from paramedic.static.branches import never_taken
    from paramedic.static.program import program

    run = open_runs(folder)[0]
    ran = {event.file: set(event.lines) for event in run.facts(LinesRun)}
    found = sorted(never_taken(program(run), ran))
    words = [f"  {one.file}:{one.line}  always {str(one.always).lower()}: {one.test}" for one in found]
    voice.say("\n".join(["", "Conditions that never took both branches:" if found else "Every branch ran.", *words]))


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
