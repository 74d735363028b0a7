"""`paramedic replay`: run the step of a bundle again."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from paramedic import voice
from paramedic.errors import ParamedicError
from paramedic.launch import Target, launch
from paramedic.masking import MASK
from paramedic.paths import check_outputs, write_text
from paramedic.reports.screen import clean, speaks_unicode
from paramedic.settings import Settings

# Nothing of a bundle goes in here but as a literal that python has written: it is a program.
TEST = '''"""A step that failed once must be finite. Written by paramedic replay."""

import subprocess
import sys

REASON = {reason!a}


def test_step_{step:d}_is_finite():
    """Runs that step again, with the weights, the batch and the random state it had. Passes once it is repaired."""
    command = [sys.executable, "-m", "paramedic", "replay", {bundle!a}, "--", *{words!a}]
    done = subprocess.run(command, cwd={folder!a}, capture_output=True, text=True)
    assert done.returncode == 0, f"{{REASON}}\\n{{done.stderr}}"
'''


def add_to(app: typer.Typer) -> None:
    settings = {"allow_extra_args": True}
    app.command("replay", rich_help_panel="After training", context_settings=settings)(replay)


def replay(
    ctx: typer.Context,
    bundle: Annotated[Path, typer.Argument(help="The file written by a stopped or failed run.")],
    ops: Annotated[bool, typer.Option("--ops", help="Show every operation of the step.")] = False,
    shell: Annotated[bool, typer.Option("--shell", help="Open a shell with model, batch and loss.")] = False,
    test: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the step as a pytest file instead.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Run the command that the bundle names, unasked.")] = False,
) -> None:
    """Re-run a failing step, operation by operation, with its original weights, batch and random state.

    Your script is started as usual and runs to its first backward(); there the bundle takes over, and the script ends.
    The bundle itself holds no code, but it names the command that wrote it: that is shown, and run if you agree. Behind
    `--` you can name the script yourself. Exits with 1 when the failure is there again, with 0 when all is finite now.

    Examples:

      paramedic replay .paramedic/runs/20260101-120000-1a2b3c/main-step17.pt --ops

      paramedic replay main-step17.pt -- train.py --epochs 3
    """
    from paramedic.bundle.file import load

    check_outputs(test)
    content = load(bundle)
    words, is_module = _words(content, ctx.args, bundle)
    if test is not None and not content.get("failure", True):
        raise ParamedicError(
            f"step {content['step']} did not fail ({content['reason']}), so there is nothing to test",
            expected="the bundle of a step that failed",
            fix=f"paramedic replay {bundle} --shell",
        )
    folder = os.getcwd() if ctx.args else content["command"]["folder"]
    if not ctx.args and not yes:
        _ask_whether_to_run(words, is_module, folder, bundle)
    if test is not None:
        write_text(test, _as_test(content, bundle, words, is_module, folder), fix="--test some/other/test_step.py")
        print(test)
        return
    _warn(content)
    target = Target(name=words[0], args=tuple(words[1:]), is_module=is_module)
    bundle = bundle.absolute()
    if os.path.isdir(folder):
        os.chdir(folder)
    voice.tell_terminal(f"running {target.name} up to its backward(), where step {content['step']} takes over …")
    options = Settings(replay=str(bundle), replay_ops=ops, replay_shell=shell, bundle_limit=0)
    with tempfile.TemporaryDirectory() as place:
        outcome = launch(target, runs=Path(place), settings=options)
        reached = _reached(outcome.folder)
    if reached is None:
        file, line, function = content["place"]
        raise ParamedicError(
            f"the script ended before it called backward() in {function} of {file}",
            expected=f"to come to {content['statement'] or f'line {line}'}",
            fix="give it the script and the arguments it had: paramedic replay BUNDLE -- train.py …",
        )
    sys.exit(reached)


def _words(content: dict[str, Any], given: list[str], bundle: Path) -> tuple[list[str], bool]:
    """The script and its arguments: those given, else those of the bundle."""
    known = content["command"]
    if given:
        return (given[1:], True) if given[0] == "-m" and len(given) > 1 else (list(given), False)
    words = known["arguments"]
    script = Path(known["folder"], words[0])
    if known["module"] is None and not script.exists():
        raise ParamedicError(
            f"the script {script} no longer exists",
            expected="the script that the bundle was written from",
            fix="paramedic replay BUNDLE -- path/to/train.py its arguments",
        )
    if any(MASK in word for word in words):
        raise ParamedicError(
            "the command of this bundle had a secret in it, which was not kept",
            expected="the script with all its arguments",
            fix=f"paramedic replay {bundle} -- {_shown(words, known['module'] is not None)}",
        )
    return ([known["module"], *words[1:]], True) if known["module"] else (list(words), False)


def _ask_whether_to_run(words: list[str], is_module: bool, folder: str, bundle: Path) -> None:
    """A bundle may come from anywhere, and the command it names may be any: the user decides."""
    command = f"python {_shown(words, is_module)}"
    if not (sys.stdin is not None and sys.stdin.isatty()):
        raise ParamedicError(
            f"to run the step again, the bundle's command has to be run:\n\n    {command}\n    in {clean(folder)}\n",
            expected="your consent, because a bundle may come from anywhere",
            fix=f"paramedic replay --yes {shlex.quote(str(bundle))}",
        )
    voice.say(
        clean(f"The bundle was written by\n\n    {command}\n    in {folder}\n", unicode=speaks_unicode(sys.stderr))
    )
    try:
        agreed = typer.confirm("Run that?", err=True)
    except typer.Abort:
        agreed = False
    if not agreed:
        raise ParamedicError(
            "nothing was run",
            expected="a command that you trust",
            fix=f"paramedic replay {shlex.quote(str(bundle))} -- train.py its arguments",
        )


def _shown(words: list[str], is_module: bool) -> str:
    return clean(shlex.join([*(["-m"] if is_module else []), *words])).replace("\n", "\\n")


def _warn(content: dict[str, Any]) -> None:
    from paramedic.bundle.file import torch_version

    made, here = clean(content["versions"]["torch"]), torch_version()
    if made != here:
        voice.say(f"paramedic: the bundle is from torch {made}, this is {here}: the numbers may differ a little.")
    if content["left_out"]:
        missing = " and no ".join(map(clean, content["left_out"]))
        voice.say(f"paramedic: the bundle was too large, so it holds no {missing}.")
    if content["without_data"]:
        voice.say("paramedic: the bundle holds no batch (--no-data), so the script's own first batch is used.")


def _reached(folder: Path) -> int | None:
    from paramedic.record.facts import Replay
    from paramedic.record.reader import open_runs

    try:
        replays = [replay for run in open_runs(folder) for replay in run.facts(Replay)]
    except ParamedicError:
        return None
    return replays[0].code if replays else None


def _as_test(content: dict[str, Any], bundle: Path, words: list[str], is_module: bool, folder: str) -> str:
    return TEST.format(
        reason=content["reason"],
        step=content["step"],
        bundle=str(bundle.absolute()),
        words=["-m", *words] if is_module else words,
        folder=folder,
    )
