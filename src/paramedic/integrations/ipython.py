"""`%load_ext paramedic`: `%%paramedic` watches a cell, `%paramedic COMMAND` is the command line."""

from __future__ import annotations

import contextlib
import shlex
import subprocess
import sys
from typing import Any

from paramedic.errors import ParamedicError
from paramedic.watching import watch


def load(shell: Any) -> None:
    shell.register_magic_function(_line, "line", "paramedic")
    shell.register_magic_function(lambda line, cell: _cell(shell, line, cell), "cell", "paramedic")


def _line(line: str) -> None:
    """What the command says appears below the cell, and not in red: most of it is no error."""
    command = [sys.executable, "-m", "paramedic", *shlex.split(line)]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    print(done.stdout, end="")


def _cell(shell: Any, line: str, cell: str) -> None:
    if line.strip():
        raise ParamedicError(
            f"%%paramedic takes no arguments, and got {line.strip()!r}",
            expected="the magic alone on its line",
            fix="with paramedic.watch(budget=…): for options; %paramedic for commands",
        )
    with watch():
        result = shell.run_cell(f"\n{cell}", store_history=False)  # the magic's own line counts, too
    if not result.success:
        error = result.error_before_exec or result.error_in_exec
        with contextlib.suppress(AttributeError):
            error._render_traceback_ = list  # it has been shown already
        raise error
