"""`--notify URL|command`: tell somebody who is not looking. Nothing leaves this machine unless it was asked for."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from typing import Any

from paramedic import voice
from paramedic.errors import ParamedicError

VARIABLE = "PARAMEDIC_NOTIFY"  # an address may be a secret: not on a command line, which everybody can read
PATIENCE = 10.0  # seconds
_SCHEMES = ("http://", "https://")
_SHELL = {">", ">>", "<", "|", "&&", "||", ";", "&"}


def checked(target: str | None) -> str | None:
    """Before hours of work: an address, or a command that is there."""
    if target is None or target.startswith(_SCHEMES):
        return target
    try:
        words = shlex.split(target)
    except ValueError:
        words = []
    if not words or "\0" in target or shutil.which(words[0]) is None:
        raise ParamedicError(
            "--notify was given neither an address nor a command that can be run",
            expected="http://… or https://…, which gets JSON by POST; or a command, which gets it on stdin",
            fix="--notify 'notify-send paramedic'",
        )
    if _SHELL & set(words):
        raise ParamedicError(
            "--notify runs a command without a shell, so it cannot redirect or pipe",
            expected="a command and its arguments; it gets JSON on stdin",
            fix=f"--notify {_quoted(f'sh -c {shlex.quote(target)}')}",
        )
    return target


def _quoted(words: str) -> str:
    """For a shell; in double quotes where that is easier to read."""
    return shlex.quote(words) if set(words) & set('"$`\\!') else f'"{words}"'


def send(target: str, event: str, text: str, **more: Any) -> None:
    """`event` is "alarm" or "end"; `text` is what chat services show. A failure costs one line and nothing else."""
    import urllib.request  # slow to import, and seldom needed

    message = json.dumps({"event": event, "text": text, **more}).encode() + b"\n"
    try:
        if target.startswith(_SCHEMES):
            request = urllib.request.Request(target, message, {"Content-Type": "application/json"}, method="POST")
            with urllib.request.urlopen(request, timeout=PATIENCE):
                return
        subprocess.run(
            shlex.split(target), input=message, stdout=subprocess.DEVNULL, timeout=PATIENCE, check=True,
            start_new_session=True,
        )  # fmt: skip
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        why = f"exit code {error.returncode}" if isinstance(error, subprocess.CalledProcessError) else _why(error)
        voice.say(f"paramedic: --notify failed: {why}")


def _why(error: Exception) -> str:
    """Without the address or the command, which may hold a secret."""
    if isinstance(error, subprocess.TimeoutExpired):
        return f"no answer in {PATIENCE:.0f} s"
    return str(getattr(error, "reason", None) or getattr(error, "strerror", None) or type(error).__name__)
