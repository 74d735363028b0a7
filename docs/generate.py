"""Write docs/rules/*.md from the rules' docstrings, docs/commands.md from the commands' help, docs/facts.md from the
classes of facts."""

from __future__ import annotations

import os
from pathlib import Path

# How help is laid out is settled when typer is imported.
os.environ.update(COLUMNS="100", NO_COLOR="1", TERM="dumb", _TYPER_FORCE_DISABLE_TERMINAL="1")

import typer.main
from typer.testing import CliRunner

from paramedic.cli.app import app
from paramedic.reports.catalogue import markdown_index, markdown_page
from paramedic.reports.facts import facts_page
from paramedic.rules.catalogue import all_rules

DOCS = Path(__file__).parent
COMMANDS = tuple(typer.main.get_command(app).commands)


def pages() -> dict[Path, str]:
    """Every generated file and its text."""
    cases = DOCS.parent / "cases"
    found = {DOCS / "rules" / "index.md": markdown_index(all_rules()), DOCS / "commands.md": commands()}
    found[DOCS / "facts.md"] = facts_page()
    for rule in all_rules():
        found[DOCS / "rules" / f"{rule.code}.md"] = markdown_page(rule, case=cases / f"{rule.code}-{rule.name}")
    return found


def commands() -> str:
    parts = ["# Commands", "", "Generated from `paramedic COMMAND --help`.", ""]
    for words in ([], *([command] for command in COMMANDS)):
        help = CliRunner().invoke(app, [*words, "--help"], prog_name="paramedic", catch_exceptions=False)
        lines = [line.rstrip() for line in help.stdout.strip().splitlines()]
        parts += [f"## `{' '.join(['paramedic', *words])}`", "", "```text", *lines, "```", ""]
    return "\n".join(parts)


def main() -> None:
    found = pages()
    for file, text in found.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    print(f"wrote {len(found)} pages below {DOCS}")


if __name__ == "__main__":
    main()
