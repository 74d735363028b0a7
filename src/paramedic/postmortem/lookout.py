"""While the run goes on: tell an error or a warning as soon as its evidence is complete, in one line, once.

Runs in a thread of the attendant, so that the training process has no part in it. An alarm that is taken back later
would be worse than one that comes late. So only rules are asked that declare their findings `lasting`: something was
seen to happen, not "has not happened yet", which the next phase of a training may undo. Only findings that are certain
count, and they must hold twice, with further steps in between.
"""

from __future__ import annotations

import contextlib
import gc
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from paramedic import voice
from paramedic.findings import Finding
from paramedic.rules.rule import Rule

CERTAIN = {"error": 0.95, "warning": 0.92}  # the least confidence of a finding that is told
FIRST, LATEST, GROWTH = 3.0, 300.0, 1.5  # seconds between two looks, at first and at most
SHARE = 1 / 20  # of one core that looking may take
FEWEST_STEPS = 10  # between two looks that confirm each other


class Lookout:
    """Looks at a record that grows; knows what it has told."""

    def __init__(self, folder: Path, rules: Sequence[Rule], options: Mapping[str, Mapping[str, object]]) -> None:
        self._folder, self._options = folder, options
        self._rules = [rule for rule in rules if rule.lasting]
        self._step = -FEWEST_STEPS  # of the look before
        self._before: set[tuple[object, ...]] = set()
        self._told: set[str] = set()

    def look(self) -> list[Finding]:
        """What can be told now and has not been told."""
        from paramedic.diagnosis import diagnose

        diagnosis = diagnose(self._folder, self._rules, self._options)
        if diagnosis.run.steps < self._step + FEWEST_STEPS:
            return []
        certain = [f for f in diagnosis.findings if is_certain(f) and f.code not in self._told]
        held = [finding for finding in certain if _name(finding) in self._before]
        self._before, self._step = {_name(finding) for finding in certain if finding not in held}, diagnosis.run.steps
        self._told |= {finding.code for finding in held}
        return held

    @property
    def expects(self) -> bool:
        """Whether something was seen once, so that a second look soon is worth it."""
        return bool(self._before)


def is_certain(finding: Finding) -> bool:
    return finding.confidence >= CERTAIN.get(finding.severity or "", 2.0) and finding.consequence_of is None


def _name(finding: Finding) -> tuple[object, ...]:
    return finding.code, finding.where.file, finding.where.line


def line(finding: Finding) -> str:
    """Such as "paramedic: ✗ PM502 softmax-before-cross-entropy, train.py:41, since step 0: …"."""
    from paramedic.findings.words import MARKS, place

    spot = "".join(f", {part}" for part in place(finding.where)[:1])
    since = "" if finding.where.step is None else f", since step {finding.where.step:,}"
    return f"paramedic: {MARKS[finding.severity or 'error']} {finding.code} {finding.name}{spot}{since}: {finding.what}"


def start(folder: Path, order: Mapping[str, object], say: Callable[[Finding], None]) -> None:
    """Look at growing intervals for as long as this process lives. What fails here costs the alarms only."""
    threading.Thread(target=_run, args=(folder, order, say), name="paramedic-lookout", daemon=True).start()


def step_back() -> None:
    """Whatever else wants to run on this machine goes first."""
    with contextlib.suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)  # of this thread, on Linux


def _run(folder: Path, order: Mapping[str, object], say: Callable[[Finding], None]) -> None:
    step_back()
    with contextlib.suppress(Exception):
        time.sleep(FIRST)
        lookout = _lookout(folder, order)
        wait = FIRST
        while True:
            began = time.thread_time()
            with contextlib.suppress(Exception):  # there is no record yet, or it is being written
                for finding in lookout.look():
                    say(finding)
            gc.collect()  # records refer to each other, and hold files open
            cost = time.thread_time() - began
            wait = min(wait * GROWTH, LATEST)
            time.sleep(max(FIRST if lookout.expects else wait, cost / SHARE))


def _lookout(folder: Path, order: Mapping[str, Any]) -> Lookout:
    from paramedic.config import load_config, rule_options
    from paramedic.rules.catalogue import select

    with voice.silence():  # the launcher has read the same settings and rules
        config = load_config(Path(order["cwd"]))
        rules = select(chosen=tuple(order["select"]) or config.select, ignored=tuple(order["ignore"]) or config.ignore)
    return Lookout(folder, rules, rule_options(config))
