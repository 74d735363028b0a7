"""The command line: `paramedic COMMAND`, grouped by the moment at which one needs it."""

from __future__ import annotations

from paramedic.cli.commands import build

app = build()
