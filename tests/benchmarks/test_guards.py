"""Guards under trial: what counts as a guard, and what a rule does without one."""

from __future__ import annotations

import ast

from benchmarks.accuracy.guard_sites import guards, without

RULE = """
def check(run):
    for event in run:
        if event.rows < 8 or event.quiet:
            continue
        word = "many" if event.rows > 9 and event.loud else "few"
        if event.bad and event.rows > 10:
            yield event.rows

def in_data(audit):
    if not audit:
        return
"""


class Event:
    def __init__(self, rows: int, *, quiet: bool = False, bad: bool = True) -> None:
        self.rows, self.quiet, self.bad, self.loud = rows, quiet, bad, False


def found(tree: ast.Module) -> list[int]:
    names: dict[str, object] = {}
    exec(compile(ast.fix_missing_locations(tree), "rule.py", "exec"), names)
    return list(names["check"]([Event(5), Event(20), Event(30, quiet=True), Event(40, bad=False)]))  # type: ignore[operator]


def test_guards_are_the_conditions_that_keep_a_finding_back():
    texts = [guard.text for guard in guards(ast.parse(RULE))]
    assert texts == [
        "if event.rows < 8 or event.quiet",
        "or event.rows < 8",
        "or event.quiet",
        "and event.bad",
        "and event.rows > 10",
    ]


def test_without_a_guard_what_it_kept_back_is_found():
    trial = {guard.text: found(without(ast.parse(RULE), guard)) for guard in guards(ast.parse(RULE))}
    assert found(ast.parse(RULE)) == [20]
    assert trial["or event.quiet"] == [20, 30]
    assert trial["and event.bad"] == [20, 40]
    assert trial["if event.rows < 8 or event.quiet"] == [20, 30]
    assert trial["and event.rows > 10"] == [20]
