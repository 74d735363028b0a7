"""Of the options of a command, only those that were typed are gone through.

To look at a default, too, Typer 0.28 and newer load a library for it, which every run would wait for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paramedic.aliases import Function


def parse_typed(command: Any, ctx: Any, args: list[str], options: Sequence[str], parse: Function) -> list[str]:
    """Have `args` parsed, in which these options occur; all others keep their defaults."""
    typed = {word.partition("=")[0] for word in options}
    given = [parameter for parameter in command.params if typed.intersection(_names(parameter))]
    if not typed <= {name for parameter in given for name in _names(parameter)}:
        return parse(ctx, args)  # --help, short options written as one word, or a mistake
    every, helps = command.params, command.add_help_option
    command.params, command.add_help_option = given, False
    try:
        rest = parse(ctx, args)
    finally:
        command.params, command.add_help_option = every, helps
    left = [each for each in every if each.expose_value and each.name not in ctx.params]
    ctx.params |= {each.name: each.get_default(ctx) for each in left}
    return rest


def _names(parameter: Any) -> list[str]:
    return [*parameter.opts, *parameter.secondary_opts]
