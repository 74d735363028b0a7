"""Conditions that always gave one answer."""

from __future__ import annotations

from paramedic.static.branches import never_taken
from paramedic.static.program import Program

TEXT = """\
if debug:
    print(x)
if warm:
    a()
else:
    b()
if seen:
    c()
def later():
    if never_reached:
        d()
"""


def test_a_branch_that_never_ran_is_listed_with_the_answer_that_was_always_given() -> None:
    found = never_taken(Program({"train.py": TEXT}), {"train.py": {1, 3, 4, 7, 8, 9}})
    assert [(one.line, one.test, one.always) for one in found] == [(1, "debug", False), (3, "warm", True)]
