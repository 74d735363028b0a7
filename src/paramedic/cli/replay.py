"""`paramedic replay`: run the step of a bundle again."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from paramedic import voice
from paramedic.errors import ParamedicError
from paramedic.launch import Target, launch
from paramedic.settings import Settings

TEST = '''"""{reason}: step {step} of {script} must be finite. Written by paramedic replay."""

import subprocess
import sys


def test_step_{step}_is_finite():
    """Runs that step again, with the weights, the batch and the random state it had. Passes once it is repaired."""
    command = [sys.executable, "-m", "paramedic", "replay", {bundle!r}, "--", *{words!r}]
    done = subprocess.run(command, cwd={folder!r}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
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
) -> None:
    """Re-run a failing step, operation by operation, with its original weights, batch and random state.

    Your script is started as usual and runs to its first backward(); there the bundle takes over, and the script ends.
    The bundle itself holds no code. Exits with 1 when the failure is there again, with 0 when all is finite now.

    Example:

      paramedic replay .paramedic/runs/20260101-120000-1a2b/main-step17.pt --ops
    """
    from paramedic.postmortem.bundle import load

    content = load(bundle)
    words, is_module = _words(content, ctx.args)
    if test is not None and not content.get("failure", True):
        raise ParamedicError(
            f"step {content['step']} did not fail ({content['reason']}), so there is nothing to test",
            expected="the bundle of a step that failed",
            fix=f"paramedic replay {bundle} --shell",
        )
    if test is not None:
        test.write_text(_as_test(content, bundle, words, is_module))
        print(test)
        return
    _warn(content)
    target = Target(name=words[0], args=tuple(words[1:]), is_module=is_module)
    if not ctx.args and os.path.isdir(content["command"]["folder"]):
        bundle = bundle.absolute()
        os.chdir(content["command"]["folder"])
    options = Settings(replay=str(bundle.absolute()), replay_ops=ops, replay_shell=shell, bundle_limit=0)
    with tempfile.TemporaryDirectory() as folder:
        outcome = launch(target, runs=Path(folder), settings=options)
        reached = _reached(outcome.folder)
    if reached is None:
        file, line, function = content["place"]
        raise ParamedicError(
            f"the script ended before it called backward() in {function} of {file}",
            expected=f"to come to {content['statement'] or f'line {line}'}",
            fix="give it the script and the arguments it had: paramedic replay BUNDLE -- train.py …",
        )
    sys.exit(reached)


def _words(content: dict[str, Any], given: list[str]) -> tuple[list[str], bool]:
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
    return ([known["module"], *words[1:]], True) if known["module"] else (list(words), False)


def _warn(content: dict[str, Any]) -> None:
    from paramedic.postmortem.bundle import torch_version

    made, here = content["versions"]["torch"], torch_version()
    if made != here:
        voice.say(f"paramedic: the bundle is from torch {made}, this is {here}: the numbers may differ a little.")
    if content["left_out"]:
        voice.say(f"paramedic: the bundle was too large, so it holds no {' and no '.join(content['left_out'])}.")
    if content["without_data"]:
        voice.say("paramedic: the bundle holds no batch (--no-data), so the script's own first batch is used.")


def _reached(folder: Path) -> int | None:
    from paramedic.record.reader import open_runs

    try:
        events = [event for run in open_runs(folder) for event in run.events("replay")]
    except ParamedicError:
        return None
    return int(events[0]["code"]) if events else None


def _as_test(content: dict[str, Any], bundle: Path, words: list[str], is_module: bool) -> str:
    return TEST.format(
        reason=content["reason"],
        step=content["step"],
        script=words[0],
        bundle=str(bundle.absolute()),
        words=["-m", *words] if is_module else words,
        folder=content["command"]["folder"],
    )
