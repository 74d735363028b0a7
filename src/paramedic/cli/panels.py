"""The groups in which `--help` shows options, so that thirty of them can be read."""

from __future__ import annotations

VERDICT = "Verdict"
FILES = "Reports"
WATCHING = "Watching"
TROUBLE = "When a step fails"
