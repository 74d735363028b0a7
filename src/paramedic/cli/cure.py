"""`paramedic cure`: the fix as a diff, tried in a copy of the folder, with before and after."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paramedic import voice
from paramedic.cli.diagnose import Jobs, On, runner_for
from paramedic.cli.options import Ignore, Quiet, Runs, Select, words
from paramedic.cli.script import ScriptCommand, target_of
from paramedic.cli.verdicts import Html, Json, Sarif
from paramedic.config import Config, load_config, new_run_id, rule_options, runs_folder
from paramedic.errors import ParamedicError
from paramedic.launch import Target
from paramedic.launch import check as check_target
from paramedic.paths import check_folder, check_outputs, write_text
from paramedic.rules.catalogue import select as select_rules
from paramedic.rules.rule import Rule

if TYPE_CHECKING:
    from paramedic.cure.proof import Trial
    from paramedic.cure.session import Outcome

Write = Annotated[bool, typer.Option("--write", help="Apply the confirmed edits to your files.")]
Unsafe = Annotated[bool, typer.Option("--unsafe", help="Also try edits that take a judgement, such as learning rates.")]
Force = Annotated[bool, typer.Option("--force", help="Write although the git tree has uncommitted changes.")]
Diff = Annotated[Path | None, typer.Option("--diff", metavar="FILE", help="Save the edits as a patch for git apply.")]
From = Annotated[
    str | None,
    typer.Option("--run", metavar="RUN", help="Begin with the findings of this run of the script: id, folder or last."),
]
Steps = Annotated[int, typer.Option(min=20, metavar="N", help="Maximum optimizer steps per run.")]


def add_to(app: typer.Typer) -> None:
    app.command("cure", cls=ScriptCommand, rich_help_panel="After training")(cure)


def cure(
    ctx: typer.Context,
    write: Write = False,
    unsafe: Unsafe = False,
    diff: Diff = None,
    json: Json = None,
    html: Html = None,
    sarif: Sarif = None,
    run: From = None,
    steps: Steps = 300,
    jobs: Jobs = None,
    on: On = None,
    force: Force = False,
    runs: Runs = None,
    select: Select = None,
    ignore: Ignore = None,
    quiet: Quiet = False,
) -> None:
    """Edit the source so that the findings are gone, and prove it: run the script before and after.

    The edits are tried in copies of the working directory. Your files stay as they are unless --write is given, and
    then only edits are applied whose run shows that the finding is gone, that nothing new is found and that the script
    does no worse. Exits 0 if there was nothing to cure or everything was cured and written, 1 otherwise.

    Examples:

      paramedic cure train.py --epochs 3

      paramedic cure --write train.py

      paramedic cure --diff fix.patch train.py
    """
    target = target_of(ctx)
    check_target(target)
    check_outputs(json, html, sarif, diff)
    _check_installed()
    if write and not force:
        from paramedic.cure.writing import check_clean

        check_clean(Path.cwd(), None if target.is_module else Path(target.name))
    config = load_config()
    rules = select_rules(chosen=words(select) or config.select, ignored=words(ignore) or config.ignore)
    home = runs_folder(config, runs)
    check_folder(home, fix="--runs some-other-folder")
    earlier = _recorded(run, target, home, rules, config) if run is not None else None
    folder = home / new_run_id()
    outcome = _cured(target, folder, rules, config, earlier, on=on, steps=steps, jobs=jobs, unsafe=unsafe, quiet=quiet)
    if outcome.first.diagnosis is None or not (outcome.first.result.steps or outcome.first.alarms):
        raise _no_run(target, outcome)
    from paramedic.cure.report import show

    written, failure = _written(outcome, force=force) if write else ([], None)
    show(outcome, quiet=quiet, written=written, refused=failure is not None)
    _save(outcome, json=json, html=html, sarif=sarif, diff=diff)
    if failure is not None:
        raise failure
    raise typer.Exit(int(bool(outcome.left) or bool(outcome.confirmed and not written)))


def _recorded(word: str, target: Target, home: Path, rules: Sequence[Rule], config: Config) -> Trial:
    from paramedic.cli.report import find_run
    from paramedic.cure.recorded import last_run_of, recorded

    here = Path.cwd()
    folder = last_run_of(target, home, here) if word == "last" else find_run(word, config, str(home))
    return recorded(folder, target, here, rules, rule_options(config))


def _cured(
    target: Target,
    folder: Path,
    rules: Sequence[Rule],
    config: Config,
    earlier: Trial | None,
    *,
    on: str | None,
    steps: int,
    jobs: int | None,
    unsafe: bool,
    quiet: bool,
) -> Outcome:
    """Make the runs that it takes."""
    from paramedic.cure.project import Project
    from paramedic.cure.session import Session
    from paramedic.lab.report import Progress

    progress = Progress(voice.stream(), quiet=quiet)
    if earlier is not None and earlier.diagnosis is not None:
        progress.say(f"paramedic: findings of run {earlier.diagnosis.run.id}")
    progress.opening(target.command)
    runner = runner_for(on, target, folder, jobs=jobs, in_place=False)
    session = Session(runner, rules, rule_options(config), steps=steps, unsafe=unsafe, tick=progress.tick)
    try:
        return session.cure(Project(folder=Path.cwd(), args=target.args), earlier)
    except KeyboardInterrupt:
        progress.done()
        voice.say("paramedic: stopped; nothing was written")
        raise
    finally:
        runner.stop()
        progress.done()


def _written(outcome: Outcome, *, force: bool) -> tuple[list[str], ParamedicError | None]:
    """The files, or why none was written: that is said after the report, which took minutes to make."""
    from paramedic.cure.writing import write

    try:
        return write(outcome.project, force=force), None
    except ParamedicError as error:
        return [], error


def _save(outcome: Outcome, *, json: Path | None, html: Path | None, sarif: Path | None, diff: Path | None) -> None:
    from paramedic.cure import fixes
    from paramedic.cure.report import render_html, render_json

    if diff is not None:
        diff.write_bytes(outcome.project.patch())
        voice.say(f"paramedic: wrote {diff}")
    for path, render in ((json, render_json), (html, render_html), (sarif, fixes.render)):
        if path is not None:
            write_text(path, render(outcome), fix="choose another folder")
            voice.say(f"paramedic: wrote {path}")


def _check_installed() -> None:
    try:
        import libcst  # noqa: F401
    except ImportError:
        raise ParamedicError(
            "libcst is not installed", expected="the extra that edits source files", fix='pip install "paramedic[cure]"'
        ) from None


def _no_run(target: Target, outcome: Outcome) -> ParamedicError:
    return ParamedicError(
        f"the script could not be examined: {outcome.first.result.reason or 'it took no optimizer step'}",
        expected="a script that imports torch and trains",
        fix=f"paramedic run {target.command.removeprefix('python ')}",
    )
