"""The lines that ran, on request."""

from __future__ import annotations

import sys
from dataclasses import replace

from facts_of import QUIET, facts_of
from paramedic.record.facts import LinesRun


def step() -> None:
    if sys.maxsize < 0:
        raise AssertionError


def test_lines_of_the_users_code_are_kept_on_request_alone() -> None:
    assert facts_of(step).facts(LinesRun) == []
    found = {
        event.file: event.lines for event in facts_of(step, settings=replace(QUIET, branches=True)).facts(LinesRun)
    }
    (lines,) = (lines for file, lines in found.items() if file.endswith("test_lines_run.py"))
    first = step.__code__.co_firstlineno
    assert first + 1 in lines and first + 2 not in lines
    assert sys.gettrace() is None
