"""`--help` without the types of Python, which typer 0.28 and newer show behind flags and arguments (`<list[str]>`)."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

from paramedic.cli.typed import parse_typed


class Commands(TyperGroup):
    """A group whose flags and arguments, and those of its commands, are shown by their names alone."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or args[0].startswith("-"):
            return super().parse_args(ctx, args)
        return parse_typed(self, ctx, args, (), super().parse_args)  # a command: no option of the whole is there

    def get_params(self, ctx: Any) -> list[Any]:
        return _bare(super().get_params(ctx))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            _bare(command.get_params(ctx))
        return command


def _bare(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if getattr(parameter, "is_flag", False) or getattr(parameter, "count", False):
            parameter.metavar = ""
        elif parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda ctx: None
    return parameters
