"""Options before the script are ours; the script and everything after it belong to the script."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import typer
from typer.core import TyperCommand

from paramedic.cli.typed import parse_typed
from paramedic.errors import ParamedicError
from paramedic.launch import Target

TARGET = "paramedic.target"


class ScriptCommand(TyperCommand):
    """A command whose last argument is a script with arguments of its own, or `-m module` with its arguments."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        valued = [p for p in self.get_params(ctx) if not (getattr(p, "is_flag", False) or getattr(p, "count", False))]
        own, target = split(args, {name for parameter in valued for name in parameter.opts})
        if target is not None and not target.is_module and is_class(target.name):  # it takes no arguments of its own
            own, target = [*own, *target.args], Target(name=target.name, args=())
        ctx.meta[TARGET] = target
        return parse_typed(self, ctx, own, [word for word in own if word.startswith("-")], super().parse_args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return ["[OPTIONS]", "SCRIPT | -m MODULE", "[ARGS OF THE SCRIPT]..."]


def target_of(ctx: typer.Context) -> Target:
    target: Target | None = ctx.meta.get(TARGET)
    if target is None:
        raise ParamedicError(
            "no script was given",
            expected="a path to a training script, or -m and a module",
            fix=f"paramedic {ctx.info_name} train.py",
        )
    return target


def is_class(name: str) -> bool:
    """`model.py:Net`, not `train.py`, nor a path that begins with a drive."""
    file, colon, inside = name.rpartition(":")
    return bool(colon) and file.endswith(".py") and inside.isidentifier()


def split(args: Sequence[str], valued: Container[str]) -> tuple[list[str], Target | None]:
    """Cut the command line where the script begins; `valued` are the options that a value follows."""
    own: list[str] = []
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if word == "--":
            continue
        if word == "-m" and rest:
            return own, Target(name=rest[0], args=tuple(rest[1:]), is_module=True)
        if not word.startswith("-"):
            return own, Target(name=word, args=tuple(rest))
        own.append(word)
        if word in valued and rest:
            own.append(rest.pop(0))
    return own, None
