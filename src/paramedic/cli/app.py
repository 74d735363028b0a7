"""The command line: `paramedic COMMAND`, grouped by the moment at which one needs it."""

from __future__ import annotations

import typer

from paramedic.cli import demo, explain, report, rules, run

app = typer.Typer(
    name="paramedic",
    help="A doctor for PyTorch training. Run your unmodified script under it:  paramedic run train.py",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
run.add_to(app)
report.add_to(app)
explain.add_to(app)
rules.add_to(app)
demo.add_to(app)
